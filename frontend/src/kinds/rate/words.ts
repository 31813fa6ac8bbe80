/** Answers in few words. */

import type { Criterion } from '../../rating/protocol.ts'
import { codesOfCell } from './sets.ts'
import type { Value, WireSaid } from './stored.ts'

export function inFew(c: Criterion, said: WireSaid): string {
  if (said.na) return c.na_label || 'N/A'
  if (!said.value) return 'not answered'
  if (c.scale.type === 'spans') return said.spans?.length ? `${said.spans.length} marked` : 'none'
  const label = (value: string) => c.scale.options.find((o) => o.value === value)?.label || value
  return c.scale.type === 'multi-label' ? [...codesOfCell(said.value)].map(label).join(', ') : label(said.value)
}

export function inWords(value: Value | null): string {
  if (!value) return ''
  if (value.texts.length > 1) return `${value.texts.length} summaries rated`
  return (value.texts[0]?.said ?? []).map((s) => (s.na ? 'N/A' : s.value)).filter(Boolean).join(', ')
}
