/** How what is typed into a PICO slot relates to the target text: the hint while typing. The server has the last word. */

import type { Range } from '../../text/offsets.ts'

export type Form = 'explicit' | 'reworded' | 'implied' | 'partly implied' | 'blank'

/** The first place of a text in another, exactly, else but for case; null where it is not there. */
export function locate(text: string, quote: string, from = 0): Range | null {
  if (!quote) return null
  const at = text.indexOf(quote, from)
  if (at >= 0) return { start: at, end: at + quote.length }
  const lower = text.toLowerCase()
  // A letter whose lower case has another length would shift every offset behind it.
  const near = lower.length === text.length ? lower.indexOf(quote.toLowerCase(), from) : -1
  return near >= 0 ? { start: near, end: near + quote.length } : null
}

/** The form of a slot, and where an explicit one stands. [Brackets] within a word ("rs4236601[A]") imply nothing. */
export function formOf(typed: string, target: string): { form: Form; at: Range | null } {
  const text = typed.trim()
  if (!text) return { form: 'blank', at: null }
  if (/^\[[^[\]]*\]$/.test(text)) return { form: 'implied', at: null }
  if (/(?<=\s|^)\[[^[\]]*\]/.test(text)) return { form: 'partly implied', at: null }
  const at = locate(target, text)
  return { form: at ? 'explicit' : 'reworded', at }
}
