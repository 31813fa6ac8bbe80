/** How typed text of a PICO element relates to the target text, as a hint while typing; the server decides. */

import type { Range } from '../text/offsets.ts'

export type Form = 'explicit' | 'reworded' | 'implied' | 'partly implied' | 'blank'

/** The first occurrence of a quote in a text, exact or else ignoring case; null if there is none. */
export function locate(text: string, quote: string, from = 0): Range | null {
  if (!quote) return null
  const at = text.indexOf(quote, from)
  if (at >= 0) return { start: at, end: at + quote.length }
  const lower = text.toLowerCase()
  // A letter whose lower case has another length would shift all following offsets.
  const near = lower.length === text.length ? lower.indexOf(quote.toLowerCase(), from) : -1
  return near >= 0 ? { start: near, end: near + quote.length } : null
}

/** The first occurrence as whole words: "VA" is not in "elevating". Letters and digits form words. */
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

/** Whether an offset has a letter or digit on both sides. */
function isWithin(text: string, at: number): boolean {
  return /[\p{L}\p{N}]\p{M}*$/u.test(text.slice(Math.max(0, at - 8), at)) && /^[\p{L}\p{N}\p{M}]/u.test(text.slice(at, at + 2))
}

/** The range of an element's text in another text of the cluster, without [implied] parts. */
export function placeIn(text: string, element: string): Range | null {
  return locateWords(text, element.replace(/(?<=\s|^)\[[^[\]]*\]/g, '').trim())
}

/** The form of an element, and the range of an explicit one. [Brackets] inside a word ("rs4236601[A]") are text. */
export function formOf(typed: string, target: string): { form: Form; at: Range | null } {
  const text = typed.trim()
  if (!text) return { form: 'blank', at: null }
  if (/^\[[^[\]]*\]$/.test(text)) return { form: 'implied', at: null }
  if (/(?<=\s|^)\[[^[\]]*\]/.test(text)) return { form: 'partly implied', at: null }
  const at = locateWords(target, text)
  return { form: at ? 'explicit' : 'reworded', at }
}
