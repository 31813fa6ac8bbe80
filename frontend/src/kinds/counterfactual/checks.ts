/**
 * Errors and warnings of a rewriting, equal to `measures/counterfactuals.py`. Errors prevent
 * acceptance, warnings do not. `tests/measures/word_edits.json` tests both implementations.
 */

import { ELEMENTS, type ElementKey } from '../../pico/elements.ts'
import { fromWire, type Range } from '../../text/offsets.ts'
import { difference, sameWords, type Difference, type Edit } from './wordEdits.ts'
import { KINDS, MOST_WORDS, type Card, type Field } from './words.ts'

export interface Check {
  readonly says: string
  readonly is: 'right' | 'odd' | 'wrong'
}

export interface Checked {
  readonly difference: Difference
  readonly checks: readonly Check[]
  /** PICO elements touched by each edit, in the order of edits. */
  readonly touched: readonly (readonly ElementKey[])[]
}

/** `others`: the texts of the other kinds. */
export function check(card: Card, field: Field, text: string, others: Readonly<Partial<Record<Field, string>>>): Checked {
  const found = difference(card.text, text)
  const { words, edits } = found
  const touched = edits.map((edit) => card.pico.filter((s) => fromWire(card.text, s.fragments).some((r) => touches(edit, r))).map((s) => s.element))
  const elements = [...new Set(touched.flat())]
  const twin = (Object.keys(others) as Field[]).find((other) => other !== field && others[other] && sameWords(others[other], text))
  const checks: Check[] = [
    text.trim() && words !== 0 ? right('differs from the target') : failed(text.trim() ? 'same words as the target' : 'no text'),
    words !== null && words <= MOST_WORDS ? right(`at most ${MOST_WORDS} words changed`) : failed(`${words ?? 'more than 40'} words changed; at most ${MOST_WORDS} are allowed`),
    elements.length ? odd(`changes words of the ${elements.map((s) => ELEMENTS[s].toLowerCase()).join(' and the ')}`) : right('PICO words unchanged'),
    twin ? odd(`same text as ${KINDS[twin].title.toLowerCase()}`) : right('differs from the other kinds'),
  ]
  const unlike = field === 'modality' && words ? unlikeM3(card, text) : ''
  if (unlike) checks.push(odd(unlike))
  return { difference: found, checks, touched }
}

const right = (says: string): Check => ({ says, is: 'right' })
const odd = (says: string): Check => ({ says, is: 'odd' })
const failed = (says: string): Check => ({ says, is: 'wrong' })

/** Words inserted between the words of an element touch it too. */
function touches({ target }: Edit, element: Range): boolean {
  return target.start < element.end && element.start < target.end
}

/** Warning if a modality change differs from M3, which hedged moderate claims and made weak or strong claims moderate. */
function unlikeM3(card: Card, text: string): string {
  const hedges = count(card.hedges, text) - count(card.hedges, card.text)
  const boosters = count(card.boosters, text) - count(card.boosters, card.text)
  if (card.modality === 'moderate' && hedges <= 0) return 'M3 hedges a moderate claim, but no hedge was added'
  if (card.modality === 'weak' && (boosters > 0 || hedges >= 0)) return 'M3 makes a weak claim moderate: remove a hedge and add no booster'
  if (card.modality === 'strong' && (hedges > 0 || boosters >= 0)) return 'M3 makes a strong claim moderate: remove a booster and add no hedge'
  return ''
}

function count(phrases: readonly string[], text: string): number {
  if (!phrases.length) return 0
  const longest = [...phrases].sort((a, b) => b.length - a.length)
  return [...text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${longest.join('|')})(?![\\p{L}\\p{N}_-])`, 'giu'))].length
}

/** The changes in few words: "reduces → does not reduce". */
export function inShort(target: string, text: string): string {
  const { words, edits } = difference(target, text)
  if (words === null) return 'another text'
  return edits.map((e) => {
    const [was, now] = [target.slice(e.target.start, e.target.end), text.slice(e.text.start, e.text.end)]
    return was && now ? `${was} → ${now}` : now ? `+ ${now}` : `− ${was}`
  }).join('; ')
}
