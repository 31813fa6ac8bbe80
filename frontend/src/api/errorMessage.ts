import { Offline, Problem } from './client.ts'

/** Message for a failed request. Other errors are bugs of the page and are thrown again. */
export function errorMessage(error: unknown): string {
  if (error instanceof Offline) return 'The server cannot be reached. Check the connection, then try again.'
  if (!(error instanceof Problem)) throw error
  if (error.status === 403) return error.detail || 'Your role does not allow this.'
  if (error.status === 404) return 'Not found, or no access.'
  if (error.status === 413) return 'The file exceeds the size limit of this server.'
  if (error.status >= 500) return 'Server error (logged). Try again.'
  const fields = error.errors.map((e) => e.message).filter((m) => !error.detail.includes(m))
  const message = [error.detail, ...fields].join(' ')
  // It may begin with a field's name, such as "price_in: A valid number is required."
  const named = message.replace(/^\w+(?=: )/, (field) => field.replaceAll('_', ' '))
  return named.charAt(0).toUpperCase() + named.slice(1)
}

/** Error messages by field name. */
export function refusedFields(error: unknown): Record<string, string> {
  if (!(error instanceof Problem)) return {}
  return Object.fromEntries(error.errors.map((e) => [e.field, error.of(e.field)]))
}
