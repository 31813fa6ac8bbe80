/** State of the form for a new round, and the plan that it describes. */

import { kindOf, kinds } from '../../kinds/index.ts'
import type { Schemas } from '../../api/client.ts'
import { GatePlanning } from './gate.svelte.ts'
import { valuesOf, type Parameter, type Values } from '../../components/systems/parameters.ts'

export type Plan = Schemas['RoundPlanRequest']
/** `study`: the targets of a reliability study with matches, which opens two rounds. */
export type Which = 'all' | 'filter' | 'sample' | 'stratified' | 'study'

/** The filters that are set and that the kind declares. */
export function narrowed(filters: Values, declared: readonly Parameter[]): Values {
  return Object.fromEntries(
    Object.entries(filters)
      .map(([name, value]) => [name, typeof value === 'string' ? value.trim() : value] as const)
      .filter(([name, value]) => value && declared.some((p) => p.name === name)),
  )
}

/** An unpredictable seed: a guessed seed would reveal the sample. */
export function drawnSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]! >>> 1
}

/** Suggested size of a sample, if that many units match. */
const SAMPLE = 40

/** Units that a person holds at a time: the open one and the next; more for working offline. */
export const HELD = 2
export const LARGEST_HELD = 20

export class Planning {
  private readonly choices: () => Schemas['RoundChoices'] | null
  private readonly mayStudy: boolean
  /** `choices`: the options of the form, once loaded. `mayStudy`: the person may plan reliability studies with matches. */
  constructor(choices: () => Schemas['RoundChoices'] | null, mayStudy = false) {
    this.choices = choices
    this.mayStudy = mayStudy
  }

  kind = $state(kinds[0]!.key as Plan['kind'])
  name = $state('')
  purpose = $state<Plan['purpose']>('gold standard')
  which = $state<Which>('all')
  filters = $state<Values>({})
  sample = $state<number | null>(SAMPLE)
  strata = $state<string[]>([])
  seed = $state<number | null>(drawnSeed())
  people = $state<number[]>([])
  overlap = $state<number | null>(1)
  allocation = $state<NonNullable<Plan['allocation']>>('shared queue')
  guideline = $state<number | null>(null)
  /** Options of the kind, once loaded. */
  get choice(): Schemas['KindChoice'] | null {
    return this.choices()?.kinds.find((k) => k.key === this.kind) ?? null
  }
  /** Options of the purpose, once loaded. */
  get meaning(): Schemas['PurposeChoice'] | null {
    return this.choices()?.purposes.find((p) => p.key === this.purpose) ?? null
  }
  terms = $state<Values>({})
  requiresPractice = $state<number | null>(null)
  asksQuestions = $state(false)
  options = $state<Values>({})
  policy = $state<Values>({})
  order = $state<Plan['order']>('corpus')
  /** Overlap sample and repeated units per person, in percent; null for none. */
  block = $state<number | null>(null)
  blockOverlap = $state<number | null>(3)
  again = $state<number | null>(null)
  distance = $state<number | null>(20)
  /** Returning gold items, in percent of a person's units (null for none), their source round and the bar in percent. */
  returned = $state<number | null>(null)
  returnedFrom = $state<number | null>(null)
  returnedBar = $state<number | null>(85)
  /** Units that a person holds at a time. */
  held = $state(HELD)
  /** Whether units added later join the round. */
  later = $state(false)

  /** Pilot and bar that the round waits for. */
  readonly gate = new GatePlanning()

  /** Targets of a study to label and to match: M3 sampled 40 propositions and 30 sentences. */
  labels = $state<number | null>(40)
  matches = $state<number | null>(30)
  nearestBy = $state('')

  /** Whether the plan can be a reliability study with matches. */
  get offersStudy(): boolean {
    return this.mayStudy && this.purpose === 'reliability study' && !!kindOf(this.kind)?.inStudies
  }
  get isStudy(): boolean {
    return this.which === 'study' && this.offersStudy
  }
  /** Reset the choice of units if it no longer exists. */
  turnToPurpose(): void {
    if (this.which === 'study' && !this.offersStudy) this.which = 'all'
    this.turnToUnits()
  }

  /** The suggested people per unit, replaced as long as the person has not typed another number. */
  private offeredOverlap = 1
  /** Agreement needs two people per unit; a study has three. */
  turnToUnits(): void {
    if (this.overlap !== this.offeredOverlap) return
    this.overlap = this.offeredOverlap = this.isStudy ? 3 : this.purpose === 'reliability study' ? 2 : 1
  }

  /** The suggested size of a sample, replaced as long as the person has not typed another. */
  private offeredSample = SAMPLE
  /** Suggest no more units than match. */
  fitSample(available: number): void {
    if (this.sample !== this.offeredSample || !available) return
    this.sample = this.offeredSample = Math.min(SAMPLE, available)
  }

  /** The purposes that a round of the chosen task can have. */
  get purposes(): readonly Schemas['PurposeChoice'][] {
    return this.choices()?.purposes.filter((p) => this.offersPurpose(p.key)) ?? []
  }
  private offersPurpose(purpose: Plan['purpose']): boolean {
    return !this.choice || this.choice.purposes.includes(purpose)
  }

  /** Reset what depends on the kind, after another one was chosen. */
  turnTo(): void {
    this.guideline = null
    this.strata = []
    this.requiresPractice = null
    this.returnedFrom = null
    this.gate.clear()
    this.asksQuestions = false
    this.options = {}
    this.policy = {}
    // Blind tasks are mostly reliability studies with fixed allocation.
    this.purpose = this.choice?.blind ? 'reliability study' : 'gold standard'
    if (!this.offersPurpose(this.purpose)) this.purpose = this.choice!.purposes[0]!
    this.allocation = this.choice?.blind ? 'fixed allocation' : 'shared queue'
    this.turnToPurpose()
    this.suggestName()
  }

  /** What the person has chosen or typed; the form's own suggestions do not count. */
  private readonly typed = $derived.by(() => JSON.stringify([{ ...this.plan, name: this.name === this.offered ? '' : this.name }, this.which]))
  private untouched = $state('')
  /** Whether the person has changed the form since `begin`. */
  get isChanged(): boolean {
    return this.untouched !== '' && this.typed !== this.untouched
  }

  /** The suggested name, replaced as long as the person has not typed another. */
  private offered = ''
  suggestName(name = this.choice?.name ?? ''): void {
    if (this.name !== this.offered) return
    this.name = this.offered = name
  }

  /** Whether gold items can return in the round. */
  get returns(): boolean {
    return !this.isStudy && !!this.choice?.returns && this.meaning?.chooses === 'any'
  }
  private get returnShare(): number {
    return this.returns ? (this.returned ?? 0) / 100 : 0
  }

  /** Whether the round can add units later: not with a sample, fixed allocation, shuffling or an overlap sample. */
  get rolls(): boolean {
    const whole = this.which === 'all' || this.which === 'filter'
    return whole && this.allocation === 'shared queue' && this.order === 'corpus' && !this.block && !this.returnShare && this.meaning?.chooses === 'any' && !!this.choice?.rolls
  }

  /** Fill in the form from the address: `?kind=…&purpose=…&rolling=true&options.NAME=…&filters.NAME=true`, or
   *  `?purpose=reliability` for a reliability study with matches. */
  begin(asked: URLSearchParams): void {
    this.fill(asked)
    this.untouched = this.typed
  }

  private fill(asked: URLSearchParams): void {
    const kind = asked.get('kind')
    if (asked.get('purpose') === 'reliability') {
      this.purpose = 'reliability study'
      this.which = this.offersStudy ? 'study' : 'all'
      this.turnToPurpose()
    }
    if (!kind) return this.suggestName()
    this.later = asked.get('rolling') === 'true'
    this.kind = kind as Plan['kind']
    this.turnTo()
    const purpose = asked.get('purpose') as Plan['purpose'] | null
    if (purpose && this.offersPurpose(purpose)) this.purpose = purpose
    this.turnToPurpose()
    for (const [name, value] of asked) {
      if (name.startsWith('options.') && value) this.options[name.slice(8)] = value
      if (name === 'terms.suggestions' && value) this.terms['suggestions'] = Number(value)
      if (name.startsWith('filters.') && value) {
        this.which = 'filter'
        const takes = this.choice?.filters.find((p) => p.name === name.slice(8))?.takes
        this.filters[name.slice(8)] = takes === 'integer' ? Number(value) : value === 'true' ? true : value
      }
    }
  }

  /** Maximum people per unit. */
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
    allocation: this.allocation,
    seed: this.seed ?? 0,
    // In corpus order, people could recognise items that return.
    order: this.returnShare ? 'shuffled' : this.order,
    options: valuesOf(this.choice?.options ?? [], this.options),
    policy: valuesOf(this.choice?.policy ?? [], this.policy),
    terms: valuesOf(this.meaning?.terms ?? [], this.terms),
    requires_practice: this.requiresPractice,
    asks_questions: this.asksQuestions,
    rolling: this.later && this.rolls,
    gate: this.gate.plan,
    // Units held for working offline stay reserved for longer.
    lease_seconds: this.held > HELD ? 4 * 3600 : 1800,
    held_limit: this.held,
    block_share: (this.block ?? 0) / 100,
    block_overlap: this.block ? this.blockOverlap || 1 : 0,
    repeat_share: this.allocation === 'fixed allocation' ? (this.again ?? 0) / 100 : 0,
    repeat_distance: this.distance || 1,
    return_share: this.returnShare,
    return_from: this.returnShare ? this.returnedFrom : null,
    return_bar: this.returnedBar ?? 85,
    sample: this.which === 'sample' || this.which === 'stratified' ? this.sample || 1 : null,
    strata: this.which === 'stratified' ? this.strata : [],
    filters: this.which === 'all' ? {} : narrowed(this.filters, this.choice?.filters ?? []),
  })
}
