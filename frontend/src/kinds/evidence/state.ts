/** One target and one abstract: where one is, and which sentences are marked. Nothing in it is changed; each step is new. */

import type { Schemas } from '../../api/client.ts'

export type Card = Schemas['EvidenceCard']
export type Value = Schemas['SupportValue']

/** The least that supports a target: one sentence, or two. */
export const MOST = 2

/** What is kept of an unfinished unit. */
export interface Draft {
  marked: readonly number[]
  at: number
  none: boolean
}

const EMPTY = 'Nothing is marked. Mark a sentence, or say that none supports the target.'
const FULL = 'Two at most: take one back first.'

export class Marking {
  private constructor(
    readonly card: Card,
    /** The numbers of the sentences that are marked, in their order. */
    readonly marked: readonly number[],
    /** The sentence at hand, from 0. */
    readonly at: number,
    /** It was said that none supports the target. */
    readonly none: boolean,
    /** Said under the buttons. */
    readonly nudge: string,
    /** Ready to be stored: the page moves on. */
    readonly complete: boolean,
    private readonly before: Marking | null,
  ) {}

  /** Where a unit begins: with its draft, else with its answer, else at the first sentence, whatever is ranked first. */
  static begin(card: Card, draft: Draft | null): Marking {
    const support = card.value?.support
    const there = draft ?? { marked: support ?? [], at: 0, none: support?.length === 0 }
    return new Marking(card, there.marked, Math.min(there.at, card.sentences.length - 1), there.none, '', false, null)
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

  /** Marks a sentence, or takes that back. */
  mark(at = this.at): Marking {
    const number = this.card.sentences[at]?.number
    if (number === undefined) return this
    const has = this.marked.includes(number)
    if (!has && this.marked.length === MOST) return this.saying(FULL, at)
    const marked = has ? this.marked.filter((one) => one !== number) : [...this.marked, number].sort((a, b) => a - b)
    return new Marking(this.card, marked, at, false, '', false, this)
  }
  /** No sentence supports the target, and that is all there is to say. */
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
  /** Ends the unit with what is marked. */
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

/** 1, 2 or 3 for the nearest sentences, as far as they are shown; null for others. */
export function rankOf(card: Pick<Card, 'ranks'>, number: number): number | null {
  const place = card.ranks?.indexOf(number) ?? -1
  return place < 0 ? null : place + 1
}

export function inWords(value: Pick<Value, 'support'> | null): string {
  if (!value) return ''
  if (!value.support.length) return 'no support'
  return `${value.support.length > 1 ? 'sentences' : 'sentence'} ${value.support.join(' and ')}`
}
