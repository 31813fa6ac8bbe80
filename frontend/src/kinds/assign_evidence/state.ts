/** One proposition and the inputs of its sentence: which are ticked. Nothing in it is changed; each step is new. */

import type { Schemas } from '../../api/client.ts'

export type Card = Schemas['AssignEvidenceCard']
export type Value = Schemas['AssignEvidenceValue']

/** What is kept of an unfinished unit. */
export interface Draft {
  ticked: readonly number[]
  at: number
}

const NONE = 'Nothing is ticked. Enter again if no text supports this proposition.'
/** It was taken back while the round is open. */
const GONE = 'The sentence of this proposition has no evidence any more. Enter goes on.'

export class Ticking {
  private constructor(
    readonly card: Card,
    /** The numbers of the inputs that are ticked. */
    readonly ticked: readonly number[],
    /** The input at hand, from 0. */
    readonly at: number,
    /** Said under the buttons. */
    readonly nudge: string,
    /** Ready to be stored: the page moves on. */
    readonly complete: boolean,
    private readonly before: Ticking | null,
  ) {}

  /** Where a unit begins: with its draft, else with its answer. */
  static begin(card: Card, draft: Draft | null): Ticking {
    const said = draft ?? { ticked: supporting(card.value ?? null), at: 0 }
    // What was ticked may have been taken back meanwhile.
    const there = { ...said, ticked: said.ticked.filter((number) => card.inputs.some((one) => one.number === number)) }
    return new Ticking(card, there.ticked, Math.max(0, Math.min(there.at, card.inputs.length - 1)), card.inputs.length ? '' : GONE, false, null)
  }

  get draft(): Draft {
    return { ticked: this.ticked, at: this.at }
  }
  get value(): Value {
    return { supporting: this.card.inputs.map(({ number }) => ({ number, said: this.ticked.includes(number) ? 'supports' : 'does not' })) }
  }
  get canUndo(): boolean {
    return this.before !== null
  }

  /** Ticks an input, or takes that back. */
  tick(at = this.at): Ticking {
    const number = this.card.inputs[at]?.number
    if (number === undefined) return this
    return this.after(this.ticked.includes(number) ? this.ticked.filter((one) => one !== number) : [...this.ticked, number], at)
  }
  /** All, or none where all are. */
  all(): Ticking {
    const all = this.card.inputs.map((one) => one.number)
    return this.after(this.ticked.length === all.length ? [] : all)
  }
  move(by: number): Ticking {
    return this.go(this.at + by)
  }
  go(to: number): Ticking {
    const at = Math.max(0, Math.min(this.card.inputs.length - 1, to))
    return at === this.at ? this : new Ticking(this.card, this.ticked, at, '', false, this.before)
  }
  next(): Ticking {
    const again = this.nudge === NONE || !!this.card.value || !this.card.inputs.length
    if (!this.ticked.length && !again) return new Ticking(this.card, this.ticked, this.at, NONE, false, this.before)
    return new Ticking(this.card, this.ticked, this.at, '', true, this.before)
  }
  undo(): Ticking {
    return this.before ?? this
  }

  private after(ticked: readonly number[], at = this.at): Ticking {
    return new Ticking(this.card, ticked, at, '', false, this)
  }
}

/** The numbers of the inputs that support the proposition. */
export function supporting(value: Value | null): number[] {
  return (value?.supporting ?? []).filter((one) => one.said === 'supports').map((one) => one.number)
}

export function inWords(value: Value | null): string {
  if (!value) return ''
  if (!value.supporting.length) return 'no inputs'
  return `${supporting(value).length} of ${value.supporting.length} inputs`
}
