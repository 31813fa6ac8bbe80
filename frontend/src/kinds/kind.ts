/** What one task kind gives to the pages. Its folder's `index.ts` exports it by default, and nothing else lists it. */

import type { Component, Snippet } from 'svelte'
import type { Schemas } from '../api/client.ts'
import type { Mark } from '../text/segments.ts'
import type { Binding } from '../work/keymap.ts'
import type { AnyColumns } from './columns.ts'
import type { Trial } from './trial.ts'

export type Card = Schemas['Card']
export type Value = NonNullable<Card['value']>
export type Cluster = Schemas['Cluster']
export type Proposition = Schemas['Proposition']
export type Target = Schemas['CuratedTarget']

/** What is known of a kind on every page, and therefore small; the rest is loaded where it is needed. */
export interface KindDefinition {
  /** As the API names it; the folder's name. */
  readonly key: string
  /** The task that a new round, and a first guideline, is of unless another one is chosen. */
  readonly usual?: true
  /** What one unit is called: "Proposition 3 of 40". */
  readonly unit: string
  /** What is said of it: "label". */
  readonly noun: string
  /** What a review waits for before its release: "a label". */
  readonly missing: string
  /** A field's stored value in words, where it is not in words already. `brief` leaves out what was not given: then it
   *  may be empty. */
  readonly said?: (field: string, value: string, brief?: boolean) => string
  /** Signs that are printed before values: "+ positive". */
  readonly signs?: Readonly<Record<string, string>>
  /** One character for a value where many stand in a row; the sign where left out. */
  readonly strip?: Readonly<Record<string, string>>
  /** What the pieces of text are called that people mark. */
  readonly spans?: string
  /** What the fields of its stored values are called, which a sample can be stratified by. */
  readonly fields?: readonly string[]
  /** Ratings that were made outside can be brought in as a file with these columns. */
  readonly ratings?: { readonly columns: readonly string[] }
  /** Answering a unit: on the Work page, in a preview, in a correction. */
  readonly task: () => Promise<{ default: AnyTask }>
  /** What a person tries before the first unit of the kind; left out where there is the guideline alone. */
  readonly trial?: () => Promise<{ default: Trial }>
  /** Its columns on the curate page. */
  readonly columns?: () => Promise<{ default: AnyColumns }>
  /** What the corpus shows of it. */
  readonly inForce?: () => Promise<{ default: InForce }>
}

/** How the page got to the unit. */
export type Visit = 'new' | 'back' | 'reopened'

/** Answering a unit of one kind, with cards `C` and values `V`. */
export interface KindTask<C, V> {
  readonly editor: Component<EditorProps, Editor>
  /** A unit as it was answered, to be read: `card.value` is drawn on it. */
  readonly reading: Component<{ card: Card }>
  /** The kind's own keys, on top of those that every kind has. */
  readonly bindings: readonly Binding[]
  /** A value in a few words, for the lists of earlier answers; with the card that it was given on, where a page has it. */
  inWords(value: V | null, card?: C): string
  /** What a unit is about, in one line. */
  inShort(card: C): string
  /** The text that the unit is known by. */
  textOf(card: C): string
}
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each kind has its own cards and values.
export type AnyTask = KindTask<any, any>

/** What a page gives to the editor of a kind. The component is made anew for every unit. */
export interface EditorProps {
  card: Card
  visit: Visit
  /** The kind's own state of an unfinished draft, or of the unit as it was left; null where there is none. */
  draft: unknown
  singleKeys: boolean
  /** Put above the text. */
  before: Snippet
  /** Put under the text. */
  after: Snippet
  /** Put under the decisions: the buttons that all kinds share, and the saved line. */
  actions: Snippet
  /** True in the first moments of a new text: nothing settles then. */
  tooSoon: () => boolean
  /** Every change, for the draft. */
  onchange: (draft: unknown) => void
  onvalue: (value: Value, draft: unknown) => void
  /** Undo, and there is nothing left to undo in this unit. */
  onback: () => void
}

/** What a page can ask of the editor. */
export interface Editor {
  /** A command of the kind's own key table, or one of 'next' and 'undo'. */
  run: (command: string, press: KeyboardEvent) => void
  /** Takes a press before the key table does; true where it was taken (the letter after F). */
  interceptKey: (press: KeyboardEvent) => boolean
  /** The state to keep where the unit is left without an answer (a skip). */
  leave: () => unknown
  focus: () => void
}

/** A filter of the corpus by values in force: a parameter of the list of clusters. */
export interface CorpusFilter {
  readonly name: string
  readonly title: string
  readonly values: readonly string[]
}

/** What the corpus shows of a kind's values in force. */
export interface InForce {
  readonly of: 'clusters' | 'propositions'
  /** Where it stands among the kinds. */
  readonly order: number
  readonly view: Component<{ cluster: Cluster; proposition: Proposition | null }>
  /** What is drawn on a proposition's text. */
  marks?: (cluster: Cluster, proposition: Proposition) => Mark[]
  /** Whether a value is in force of the unit. */
  isDecided: (cluster: Cluster, proposition: Proposition | null) => boolean
  /** The unit as the Work page would hand it out, with the value in force on it; left out where it is not corrected there. */
  card?: (cluster: Cluster, proposition: Proposition) => Card
  readonly filters: readonly CorpusFilter[]
  /** A row of the list of clusters: in its head line, or under its text. */
  inRow?: { head?: (row: Schemas['ClusterRow']) => string; foot?: (row: Schemas['ClusterRow']) => string }
}
