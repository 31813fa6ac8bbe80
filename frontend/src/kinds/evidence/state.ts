/** State of one target and abstract with its marked sentences. Immutable: each step returns a new object. */

import type { Schemas } from '../../api/client.ts'

export type Card = Schemas['EvidenceCard']
export type Value = Schemas['SupportValue']

/** Maximum number of marked sentences. */
export const MOST = 2

/** Draft of an unfinished unit. */
export interface Draft {
  marked: readonly number[]
  at: number
  none: boolean
}

const EMPTY = 'No sentence is marked. Mark one, or press 0 if none supports the target.'
const FULL = 'At most two sentences. Unmark one first.'

export class Marking {
  private constructor(
    readonly card: Card,
    /** Numbers of the marked sentences, sorted. */
    readonly marked: readonly number[],
    /** Index of the current sentence. */
    readonly at: number,
    /** Whether no sentence supports the target. */
    readonly none: boolean,
    /** Message below the buttons. */
    readonly nudge: string,
    /** Whether the answer can be stored; the page then moves on. */
    readonly complete: boolean,
    private readonly before: Marking | null,
  ) {}

  /** Initial state: the draft, otherwise the answer at the first sentence. */
  static begin(card: Card, draft: Draft | null): Marking {
    const support = card.value?.support
    const step = draft ?? { marked: support ?? [], at: 0, none: support?.length === 0 }
    return new Marking(card, step.marked, Math.min(step.at, card.sentences.length - 1), step.none, '', false, null)
  }

  get draft(): Draft {
    return { marked: this.marked, at: this.at, none: this.none }
  }
  get value(): Value {
    return { support: [...this.marked], ranked: [...(this.card.ranks ?? [])] }
  }
  get canUndo(): boolean {
    return this.before !== null
  }

  /** Mark or unmark a sentence. */
  mark(at = this.at): Marking {
    const number = this.card.sentences[at]?.number
    if (number === undefined) return this
    const isMarked = this.marked.includes(number)
    if (!isMarked && this.marked.length === MOST) return this.saying(FULL, at)
    const marked = isMarked ? this.marked.filter((one) => one !== number) : [...this.marked, number].sort((a, b) => a - b)
    return new Marking(this.card, marked, at, false, '', false, this)
  }
  /** Mark or unmark the sentence with this rank in the margin, if ranks are shown. */
  markRank(rank: number): Marking {
    const number = this.card.ranks?.[rank - 1]
    return number === undefined ? this : this.mark(this.card.sentences.findIndex((one) => one.number === number))
  }
  /** Complete the unit: no sentence supports the target. */
  nothing(): Marking {
    return new Marking(this.card, [], this.at, true, '', true, this)
  }
  move(by: number): Marking {
    return this.go(this.at + by)
  }
  go(to: number): Marking {
    const at = Math.max(0, Math.min(this.card.sentences.length - 1, to))
    return at === this.at ? this : new Marking(this.card, this.marked, at, this.none, '', false, this.before)
  }
  /** Complete the unit with the marked sentences. */
  next(): Marking {
    if (!this.marked.length && !this.none) return this.saying(EMPTY)
    return new Marking(this.card, this.marked, this.at, this.none, '', true, this.before)
  }
  undo(): Marking {
    return this.before ?? this
  }

  private saying(nudge: string, at = this.at): Marking {
    return new Marking(this.card, this.marked, at, this.none, nudge, false, this.before)
  }
}

/** Rank of a sentence, 1 to 3, or null. */
export function rankOf(card: Pick<Card, 'ranks'>, number: number): number | null {
  const place = card.ranks?.indexOf(number) ?? -1
  return place < 0 ? null : place + 1
}

export function inWords(value: Pick<Value, 'support'> | null): string {
  if (!value) return ''
  if (!value.support.length) return 'no support'
  return `${value.support.length > 1 ? 'sentences' : 'sentence'} ${value.support.join(' and ')}`
}
