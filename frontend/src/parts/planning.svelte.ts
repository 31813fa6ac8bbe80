/** A round that is being planned: what the form holds, and the plan that it comes to. */

import { kinds } from '../kinds/index.ts'
import type { Schemas } from '../api/client.ts'
import { valuesOf, type Parameter, type Values } from './parameters.ts'

export type Plan = Schemas['RoundPlanRequest']
export type Which = 'all' | 'filter' | 'sample' | 'stratified'

/** Only the filters that are set, and that the kind has. */
export function narrowed(filters: Values, declared: readonly Parameter[]): Values {
  return Object.fromEntries(
    Object.entries(filters)
      .map(([name, value]) => [name, typeof value === 'string' ? value.trim() : value] as const)
      .filter(([name, value]) => value && declared.some((p) => p.name === name)),
  )
}

/** A seed that nobody guesses: who knew it could work out what it has drawn. */
export function drawnSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]! >>> 1
}

/** Units that a person holds at a time: the one that is worked on and the next. The most lets people work offline. */
export const HAND = 2
export const LARGEST_HAND = 20

export class Planning {
  private readonly choices: () => Schemas['RoundChoices'] | null
  /** `choices`: what there is to choose from, once it is known. */
  constructor(choices: () => Schemas['RoundChoices'] | null) {
    this.choices = choices
  }

  kind = $state(kinds[0]!.key as Plan['kind'])
  name = $state('')
  purpose = $state<Plan['purpose']>('gold')
  which = $state<Which>('all')
  filters = $state<Values>({})
  sample = $state<number | null>(40)
  strata = $state<string[]>([])
  seed = $state<number | null>(drawnSeed())
  people = $state<number[]>([])
  overlap = $state<number | null>(1)
  dealing = $state<NonNullable<Plan['dealing']>>('pool')
  guideline = $state<number | null>(null)
  /** What the kind lets a lead set, once that is known. */
  get choice(): Schemas['KindChoice'] | null {
    return this.choices()?.kinds.find((k) => k.key === this.kind) ?? null
  }
  /** What the purpose lets a lead set, once that is known. */
  get meaning(): Schemas['PurposeChoice'] | null {
    return this.choices()?.purposes.find((p) => p.key === this.purpose) ?? null
  }
  terms = $state<Values>({})
  requiresPractice = $state<number | null>(null)
  asksQuestions = $state(false)
  options = $state<Values>({})
  policy = $state<Values>({})
  order = $state<Plan['order']>('corpus')
  /** Percent of the units that more people are asked, and of each person's own that is asked again; null for none. */
  block = $state<number | null>(null)
  blockOverlap = $state<number | null>(3)
  again = $state<number | null>(null)
  distance = $state<number | null>(20)
  /** Units that a person holds at a time. */
  hand = $state(HAND)
  /** Whether units that come later are wanted too. */
  later = $state(false)

  /** After another kind was chosen: what was set of the one before is not of this one. */
  turnTo(): void {
    this.guideline = null
    this.strata = []
    this.requiresPractice = null
    this.asksQuestions = false
    this.options = {}
    this.policy = {}
    // Of what people judge without knowing whose it is, most rounds only measure, and each person's share is fixed.
    this.purpose = this.choice?.blind ? 'measure only' : 'gold'
    this.dealing = this.choice?.blind ? 'dealt' : 'pool'
    this.suggestName()
  }

  /** A name that is still free, for as long as nobody has written another. */
  private offered = ''
  private suggestName(): void {
    if (this.name !== this.offered) return
    this.name = this.offered = this.choice?.name ?? ''
  }

  /** Whether units that come later can be taken in: of what is not drawn, laid out or dealt all at once. */
  get rolls(): boolean {
    const whole = this.which === 'all' || this.which === 'filter'
    return whole && this.dealing === 'pool' && this.order === 'corpus' && !this.block && this.meaning?.chooses === 'any' && !!this.choice?.rolls
  }

  /** What an address asks for: `?kind=…&purpose=…&rolling=true&options.NAME=…&filters.NAME=true`. */
  begin(asked: URLSearchParams): void {
    const kind = asked.get('kind')
    if (!kind) return this.suggestName()
    this.later = asked.get('rolling') === 'true'
    this.kind = kind as Plan['kind']
    this.turnTo()
    this.purpose = (asked.get('purpose') as Plan['purpose'] | null) ?? this.purpose
    for (const [name, value] of asked) {
      if (name.startsWith('options.') && value) this.options[name.slice(8)] = value
      if (name.startsWith('filters.') && value) {
        this.which = 'filter'
        this.filters[name.slice(8)] = value === 'true' ? true : value
      }
    }
  }

  /** How many people a unit is asked of at most. */
  get most(): number {
    if (this.meaning?.for_everyone) return this.people.length || 1
    return Math.max(this.overlap || 1, this.block ? this.blockOverlap || 1 : 0)
  }

  readonly plan = $derived<Plan>({
    name: this.name.trim(),
    kind: this.kind,
    purpose: this.purpose,
    overlap: this.overlap || 1,
    people: this.people,
    guideline: this.guideline,
    dealing: this.dealing,
    seed: this.seed ?? 0,
    order: this.order,
    options: valuesOf(this.choice?.options ?? [], this.options),
    policy: valuesOf(this.choice?.policy ?? [], this.policy),
    terms: valuesOf(this.meaning?.terms ?? [], this.terms),
    requires_practice: this.requiresPractice,
    asks_questions: this.asksQuestions,
    rolling: this.later && this.rolls,
    // What is held for working offline is kept for longer than what is worked on now.
    lease_seconds: this.hand > HAND ? 4 * 3600 : 1800,
    hand_size: this.hand,
    block_share: (this.block ?? 0) / 100,
    block_overlap: this.block ? this.blockOverlap || 1 : 0,
    repeat_share: this.dealing === 'dealt' ? (this.again ?? 0) / 100 : 0,
    repeat_distance: this.distance || 1,
    sample: this.which === 'sample' || this.which === 'stratified' ? this.sample || 1 : null,
    strata: this.which === 'stratified' ? this.strata : [],
    filters: this.which === 'all' ? {} : narrowed(this.filters, this.choice?.filters ?? []),
  })
}
