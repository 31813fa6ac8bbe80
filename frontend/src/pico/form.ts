/** How what is typed into a PICO slot relates to the target text: the hint while typing. The server has the last word. */

import type { Range } from '../text/offsets.ts'

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

/** The same, of whole words: "VA" does not stand in "elevating". What is no letter and no digit bounds a word. */
export function locateWords(text: string, quote: string): Range | null {
  for (const [where, what] of [[text, quote], [text.toLowerCase(), quote.toLowerCase()]] as const) {
    if (!what || where.length !== text.length) continue
    for (let at = where.indexOf(what); at >= 0; at = where.indexOf(what, at + 1)) {
      const range = { start: at, end: at + what.length }
      if (!isWithin(text, range.start) && !isWithin(text, range.end)) return range
    }
  }
  return null
}

/** Whether a place has a letter or a digit on both of its sides. */
function isWithin(text: string, at: number): boolean {
  return /[\p{L}\p{N}]\p{M}*$/u.test(text.slice(Math.max(0, at - 8), at)) && /^[\p{L}\p{N}\p{M}]/u.test(text.slice(at, at + 2))
}

/** Where a slot's text stands in some text of the cluster; its [implied] parts stand nowhere. */
export function placeIn(text: string, slot: string): Range | null {
  return locateWords(text, slot.replace(/(?<=\s|^)\[[^[\]]*\]/g, '').trim())
}

/** The form of a slot, and where an explicit one stands. [Brackets] within a word ("rs4236601[A]") imply nothing. */
export function formOf(typed: string, target: string): { form: Form; at: Range | null } {
  const text = typed.trim()
  if (!text) return { form: 'blank', at: null }
  if (/^\[[^[\]]*\]$/.test(text)) return { form: 'implied', at: null }
  if (/(?<=\s|^)\[[^[\]]*\]/.test(text)) return { form: 'partly implied', at: null }
  const at = locateWords(target, text)
  return { form: at ? 'explicit' : 'reworded', at }
}
