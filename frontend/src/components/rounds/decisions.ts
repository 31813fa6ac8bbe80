/** A decision that another curator made while the page was open. */
export interface OtherDecision {
  readonly unit: number
  readonly said: readonly { field: string; value: string }[]
  readonly by: string
  readonly reason: string
}

/** A field's name on pages: without underscores, a single letter in upper case. */
export function fieldInWords(field: string): string {
  return field.length === 1 ? field.toUpperCase() : field.replaceAll('_', ' ')
}

/** A value beside the name of its field, which ratings repeat. */
export function besideField(field: string, words: string): string {
  return words.startsWith(`${field} `) ? words.slice(field.length + 1) : words
}

/** Message about a decision that another curator made first. */
export function otherDecisionInWords(other: OtherDecision, said: (field: string, value: string) => string): string {
  const values = other.said.map((s) => said(s.field, s.value)).join(', ')
  return `${other.by || 'Another curator'} decided this unit before you: ${values || 'reopened'}. Reason: ${other.reason}`
}
