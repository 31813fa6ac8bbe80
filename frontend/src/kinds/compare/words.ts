/** Preferences in words. */

import type { Page } from '../../rating/protocol.ts'
import type { Value } from './state.ts'

/** "first" or "second" by the order on the page, or "tie", "neither". */
export function inFew(page: Page, choice: string): string {
  const at = page.texts.findIndex((t) => t.key === choice)
  return ['first', 'second'][at] ?? choice
}

export function inWords(value: Value | null): string {
  if (!value) return ''
  return value.said.map((s) => (s.choice === value.left ? 'left' : s.choice === value.right ? 'right' : s.choice)).join(', ')
}
