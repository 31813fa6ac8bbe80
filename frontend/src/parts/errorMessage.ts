import { Offline, Problem } from '../api/client.ts'

/** What went wrong, for a person. Anything that is no reply of the server is a fault of ours and goes on its way. */
export function errorMessage(error: unknown): string {
  if (error instanceof Offline) return 'The server cannot be reached. Is the connection up? Try again in a moment.'
  if (!(error instanceof Problem)) throw error
  if (error.status === 403) return error.detail || 'Your role in this project does not allow this.'
  if (error.status === 404) return 'There is nothing here, or nothing that you may see.'
  if (error.status === 413) return 'The file is larger than this server takes.'
  if (error.status >= 500) return 'The server failed at this. It has been noted there; try again in a moment.'
  const fields = error.errors.map((e) => e.message).filter((m) => !error.detail.includes(m))
  return [error.detail, ...fields].join(' ')
}

/** The fields that were refused, by name: what to print beside each control. */
export function refusedFields(error: unknown): Record<string, string> {
  if (!(error instanceof Problem)) return {}
  return Object.fromEntries(error.errors.map((e) => [e.field, error.of(e.field)]))
}
