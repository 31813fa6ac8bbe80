/** Changes of an audit log entry, in words. */

interface Difference {
  name: string
  before: string
  after: string
}

function words(value: unknown): string {
  if (value === null || value === undefined || value === '') return ''
  if (Array.isArray(value)) return value.map(words).join(', ')
  if (typeof value === 'object') return Object.entries(value).map(([k, v]) => `${k} ${words(v)}`).join(', ')
  return String(value)
}

/** Changed fields with their values before and after. */
export function differences(before: unknown, after: unknown): Difference[] {
  const object = (value: unknown) => (value && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : value === null || value === undefined ? {} : { value })
  const [was, is] = [object(before), object(after)]
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .map((name) => ({ name: name.replaceAll('_', ' '), before: words(was[name]), after: words(is[name]) }))
    .filter((d) => d.before !== d.after)
}
