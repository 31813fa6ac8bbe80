/** State of one pair: a direction and a sentence, in either order. Immutable: each step returns a new object. */

import type { Schemas } from '../../api/client.ts'
import { EFFECT_DIRECTIONS, type EffectDirection } from '../effectDirections.ts'

export type Card = Schemas['EffectCard']
export type Value = Schemas['EffectValue']
export type Direction = EffectDirection

/** Directions with their keys, left to right on the keyboard. */
export const DIRECTIONS = EFFECT_DIRECTIONS.map((direction, n) => ({ ...direction, key: 'ASD0'[n]! }))

/** Milliseconds in which a second digit continues a number. */
export const TYPING = 600

const ASKS_SENTENCE = 'Which sentence shows it? Type its number.'

/** Draft of an unfinished unit. */
export interface Draft {
  direction: Direction | null
  sentence: number | null
}

export class Judging {
  private constructor(
    readonly card: Card,
    readonly direction: Direction | null,
    /** Number of the sentence, from 1. */
    readonly sentence: number | null,
    /** Message below the buttons. */
    readonly nudge: string,
    /** Whether the answer can be stored; the page then moves on. */
    readonly complete: boolean,
    /** A typed digit that another may follow, and when it was typed. */
    private readonly typed: { digit: number; at: number } | null,
    private readonly before: Judging | null,
  ) {}

  /** Initial state: the draft, otherwise the answer. */
  static begin(card: Card, draft: Draft | null): Judging {
    const from = draft ?? { direction: card.value?.effect_direction ?? null, sentence: card.value?.effect_sentence ?? null }
    // A model whose evidence is not in the abstract gives a direction only.
    const asks = from.direction !== null && from.direction !== 'not reported' && from.sentence === null
    return new Judging(card, from.direction, from.sentence, asks ? ASKS_SENTENCE : '', false, null, null)
  }

  get draft(): Draft {
    return { direction: this.direction, sentence: this.sentence }
  }
  get canUndo(): boolean {
    return this.before !== null
  }
  get value(): Value {
    const { direction, sentence, card } = this
    const same = card.suggested?.direction === direction && card.suggested.sentence === sentence
    return { effect_direction: direction!, effect_sentence: sentence, suggestion: card.suggested ? (same ? 'accepted' : 'edited') : '' }
  }

  /** Choose the direction. With a sentence, or if the effect is not reported, the unit is complete. */
  choose(direction: Direction): Judging {
    if (direction === 'not reported') return this.after({ direction, sentence: null, complete: true })
    return this.after({ direction, complete: this.sentence !== null })
  }
  /** Choose the sentence by its number. With a direction, the unit is complete. */
  pick(sentence: number): Judging {
    return this.after({ sentence, complete: this.isDirected })
  }
  /** Move to another sentence. Enter completes. */
  move(by: 1 | -1): Judging {
    const last = this.card.sentences.length
    const to = this.sentence === null ? (by === 1 ? 1 : last) : Math.max(1, Math.min(last, this.sentence + by))
    return to === this.sentence ? this : this.after({ sentence: to, direction: this.isDirected ? this.direction : null })
  }
  /** Type a digit of a sentence's number; `at` is the time. A lone 0 means that the effect is not reported. */
  type(digit: number, at: number): Judging {
    const last = this.card.sentences.length
    const continues = this.typed && at - this.typed.at <= TYPING ? this.typed.digit * 10 + digit : 0
    if (continues && continues <= last) return this.after({ sentence: continues, complete: this.isDirected })
    if (!digit) return this.choose('not reported')
    if (digit > last) return this.saying(`This abstract has ${last} sentences.`)
    // Wait for a second digit if one can follow.
    const waits = digit * 10 <= last
    return this.after({ sentence: digit, direction: this.isDirected ? this.direction : null, complete: this.isDirected && !waits, typed: waits ? { digit, at } : null })
  }
  /** Complete the unit. A suggestion fills what is missing. */
  next(): Judging {
    const direction = this.direction ?? this.card.suggested?.direction ?? null
    const sentence = this.sentence ?? this.card.suggested?.sentence ?? null
    if (direction !== null && direction !== 'not reported' && sentence !== null) return this.after({ direction, sentence, complete: true }, this.before)
    if (direction === null) return this.saying('No direction yet: A, S, D or 0.')
    if (direction !== 'not reported') return this.saying(ASKS_SENTENCE)
    return this.after({ complete: true }, this.before)
  }
  undo(): Judging {
    return this.before ?? this
  }
  /** The pause after a digit is over: nothing follows, so the unit is complete if it has a direction. */
  rest(): Judging {
    return this.typed && this.isDirected ? this.after({ complete: true }, this.before) : this
  }
  get isTyping(): boolean {
    return this.typed !== null
  }

  private get isDirected(): boolean {
    return this.direction !== null && this.direction !== 'not reported'
  }
  private after(
    change: { direction?: Direction | null; sentence?: number | null; complete?: boolean; typed?: { digit: number; at: number } | null }, before: Judging | null = this,
  ): Judging {
    const direction = change.direction === undefined ? this.direction : change.direction
    const sentence = change.sentence === undefined ? this.sentence : change.sentence
    const complete = change.complete ?? false
    const nudge = complete ? '' : direction === null ? `Sentence ${sentence}. Direction: A, S, D or 0.` : sentence === null ? ASKS_SENTENCE : 'Press Enter to go on.'
    return new Judging(this.card, direction, sentence, nudge, complete, change.typed ?? null, before)
  }
  private saying(nudge: string): Judging {
    return new Judging(this.card, this.direction, this.sentence, nudge, false, null, this.before)
  }
}

/** The ranges of a sentence that mention the intervention or the outcome in the same words, ignoring case. */
export function mentions(text: string, named: Readonly<Record<'i' | 'o', string>>): { start: number; end: number; element: 'i' | 'o' }[] {
  const low = text.toLowerCase()
  if (low.length !== text.length) return []
  const found = (['i', 'o'] as const).flatMap((element) => {
    const words = named[element].toLowerCase()
    const out = []
    for (let at = words ? low.indexOf(words) : -1; at >= 0; at = low.indexOf(words, at + words.length)) {
      if (!/[\p{L}\p{N}]/u.test(text[at - 1] ?? ' ')) out.push({ start: at, end: at + words.length, element })
    }
    return out
  })
  return found.sort((a, b) => a.start - b.start).filter((m, n, all) => all.slice(0, n).every((other) => other.end <= m.start))
}

export function inWords(value: Pick<Value, 'effect_direction' | 'effect_sentence'> | null): string {
  if (!value) return ''
  const direction = DIRECTIONS.find((d) => d.value === value.effect_direction)!
  return `${direction.sign} ${direction.value}${value.effect_sentence ? `, sentence ${value.effect_sentence}` : ''}`
}
