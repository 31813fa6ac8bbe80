/** Interface of a task kind to the pages. The `index.ts` of its folder exports it by default; nothing else lists it. */

import type { Component, Snippet } from 'svelte'
import type { Schemas } from '../api/client.ts'
import type { Mark } from '../text/segments.ts'
import type { Binding } from '../work/keymap.ts'
import type { AnyColumns } from './columns.ts'
import type { Tutorial } from './tutorial.ts'

export type Card = Schemas['Card']
export type Value = NonNullable<Card['value']>
export type Cluster = Schemas['Cluster']
export type Proposition = Schemas['Proposition']
export type Target = Schemas['CuratedTarget']

/** The part of a kind that every page loads, and therefore small; the rest is loaded when needed. */
export interface KindDefinition {
  /** Key in the API, and name of the folder. */
  readonly key: string
  /** Default kind of a new round and of a first guideline. */
  readonly usual?: true
  /** Name of a unit: "Proposition 3 of 40". */
  readonly unit: string
  /** Name of its value: "label". */
  readonly noun: string
  /** Name of a missing value: "a label". */
  readonly missing: string
  /** A field's stored value in words, if it needs conversion. `brief` leaves out missing values: the result can then
   *  be empty. */
  readonly said?: (field: string, value: string, brief?: boolean) => string
  /** Signs printed before values: "+ positive". */
  readonly signs?: Readonly<Record<string, string>>
  /** A character for each value, for strips with many values. Default: the sign. */
  readonly strip?: Readonly<Record<string, string>>
  /** What the marked spans are called: the title of their tab on the Agreement page. */
  readonly spans?: string
  /** Names of the stored fields, by which a sample can be stratified. */
  readonly fields?: readonly string[]
  /** Whether a reliability study of targets has a round of it (`annotation/reliability`). */
  readonly inStudies?: true
  /** Columns of a file with external ratings, if they can be imported. */
  readonly ratings?: { readonly columns: readonly string[] }
  /** Editor of a unit: on the Work page, in a preview, in a correction. */
  readonly task: () => Promise<{ default: AnyTask }>
  /** Tutorial before the first unit. Required for kinds in this repository. */
  readonly tutorial?: () => Promise<{ default: Tutorial }>
  /** Columns on the Curate page. */
  readonly columns?: () => Promise<{ default: AnyColumns }>
  /** Current values in the corpus. */
  readonly currentValues?: () => Promise<{ default: CurrentValues }>
}

/** Why the unit is shown. */
export type Visit = 'new' | 'back' | 'reopened'

/** Answering a unit of one kind, with cards `C` and values `V`. */
export interface KindTask<C, V> {
  readonly editor: Component<EditorProps, Editor>
  /** Read-only view of an answered unit with `card.value`. */
  readonly reading: Component<{ card: Card }>
  /** View of the unit without an answer. Adjudication shows it once, above all answers. */
  readonly about?: Component<{ card: Card }>
  /** The kind's own keys, on top of those that every kind has. */
  readonly bindings: readonly Binding[]
  /** A value in a few words, for lists of earlier answers; with its card, if the page has it. */
  inWords(value: V | null, card?: C): string
  /** Subject of a unit, in one line. */
  inShort(card: C): string
  /** Text that identifies the unit. */
  textOf(card: C): string
}
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each kind has its own cards and values.
export type AnyTask = KindTask<any, any>

/** Properties of a kind's editor. Every unit gets a new component. */
export interface EditorProps {
  card: Card
  visit: Visit
  /** The kind's state of a draft or of a unit that was left, or null. */
  draft: unknown
  singleKeys: boolean
  /** Content above the text. */
  before: Snippet
  /** Content below the text. */
  after: Snippet
  /** Content below the controls: the buttons common to all kinds, and the saved state. */
  actions: Snippet
  /** True just after a new text appears, when no key may complete the unit. */
  tooSoon: () => boolean
  /** Every change, for the draft. */
  onchange: (draft: unknown) => void
  onvalue: (value: Value, draft: unknown) => void
  /** Undo without anything left to undo in this unit. */
  onback: () => void
}

/** Methods of an editor that pages call. */
export interface Editor {
  /** A command of the kind's own key table, or one of 'next' and 'undo'. */
  run: (command: string, press: KeyboardEvent) => void
  /** Handle a key press before the key table; true if it was handled (the letter after F). */
  interceptKey: (press: KeyboardEvent) => boolean
  /** State to keep if the unit is left without an answer (a skip). */
  leave: () => unknown
  focus: () => void
}

/** A corpus filter by current values: a parameter of the list of clusters. */
export interface CorpusFilter {
  readonly name: string
  readonly title: string
  readonly values: readonly string[]
}

/** View of a kind's current values in the corpus. */
export interface CurrentValues {
  readonly of: 'clusters' | 'propositions'
  /** Position among the kinds. */
  readonly order: number
  readonly view: Component<{ cluster: Cluster; proposition: Proposition | null }>
  /** Marks on the text of a proposition. */
  marks?: (cluster: Cluster, proposition: Proposition) => Mark[]
  /** Whether the unit has a current value. */
  isDecided: (cluster: Cluster, proposition: Proposition | null) => boolean
  /** The card of the unit with its current value; left out if the kind is not corrected in the corpus. */
  card?: (cluster: Cluster, proposition: Proposition) => Card
  readonly filters: readonly CorpusFilter[]
  /** Parts of a row in the list of clusters: text about the cluster, text under its target, and a value of each input (null if undecided). */
  inRow?: {
    head?: (row: Schemas['ClusterRow']) => string
    foot?: (row: Schemas['ClusterRow']) => string
    inputs?: (row: Schemas['ClusterRow']) => readonly (string | null)[]
  }
}
