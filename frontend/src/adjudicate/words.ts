import type { Theirs } from './adjudication.svelte.ts'

/** A field's name as it is read: without underscores, one letter large. */
export function fieldInWords(field: string): string {
  return field.length === 1 ? field.toUpperCase() : field.replaceAll('_', ' ')
}

/** What another curator decided a moment before. */
export function theirsInWords(theirs: Theirs, said: (field: string, value: string) => string): string {
  const values = theirs.said.map((s) => said(s.field, s.value)).join(', ')
  return `${theirs.by || 'Another curator'} decided it before you: ${values || 'taken back'}. Reason: ${theirs.reason}`
}
