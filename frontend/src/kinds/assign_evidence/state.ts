/** State of one proposition and the ticked inputs of its sentence. Immutable: each step returns a new object. */

import type { Schemas } from '../../api/client.ts'

export type Card = Schemas['AssignEvidenceCard']
export type Value = Schemas['AssignEvidenceValue']

/** Draft of an unfinished unit. */
export interface Draft {
  ticked: readonly number[]
  at: number
}

const NONE = 'No text is ticked. Press Enter again if no text supports this proposition.'
/** The evidence was removed while the round is open. */
const GONE = 'The evidence of this sentence was removed. Press Enter to continue.'

export class Ticking {
  private constructor(
    readonly card: Card,
    /** Numbers of the ticked inputs. */
    readonly ticked: readonly number[],
    /** Index of the current input. */
    readonly at: number,
    /** Message below the buttons. */
    readonly nudge: string,
    /** Whether the answer can be stored; the page then moves on. */
    readonly complete: boolean,
    private readonly before: Ticking | null,
  ) {}

  /** Initial state: the draft, otherwise the answer. */
  static begin(card: Card, draft: Draft | null): Ticking {
    const said = draft ?? { ticked: supporting(card.value ?? null), at: 0 }
    // Ticked inputs may have been removed meanwhile.
    const step = { ...said, ticked: said.ticked.filter((number) => card.inputs.some((one) => one.number === number)) }
    return new Ticking(card, step.ticked, Math.max(0, Math.min(step.at, card.inputs.length - 1)), card.inputs.length ? '' : GONE, false, null)
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

  /** Tick or untick an input. */
  tick(at = this.at): Ticking {
    const number = this.card.inputs[at]?.number
    if (number === undefined) return this
    return this.after(this.ticked.includes(number) ? this.ticked.filter((one) => one !== number) : [...this.ticked, number], at)
  }
  /** Tick all inputs, or untick all if all are ticked. */
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
    const isRepeated = this.nudge === NONE || !!this.card.value || !this.card.inputs.length
    if (!this.ticked.length && !isRepeated) return new Ticking(this.card, this.ticked, this.at, NONE, false, this.before)
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
