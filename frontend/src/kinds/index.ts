/** One component a kind, loaded when a round of that kind is opened. */

import type { Component, Snippet } from 'svelte'
import type { Schemas } from '../api/client.ts'
import type { Binding } from '../work/keymap.ts'

export type Card = Schemas['Card']
export type Kind = Card['kind']
export type Value = NonNullable<Card['value']>

/** How the page got to the unit. */
export type Visit = 'new' | 'back' | 'reopened'

/** What the Work page gives to the component of a kind. The component is made anew for every unit. */
export interface DeskProps {
  card: Card
  visit: Visit
  /** The kind's own state of an unfinished draft, or of the unit as it was left; null where there is none. */
  kept: unknown
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
  onchange: (kept: unknown) => void
  onvalue: (value: Value, kept: unknown) => void
  /** Undo, and there is nothing left to undo in this unit. */
  onback: () => void
}

/** What the page can ask of it. */
export interface Desk {
  /** A command of the kind's own key table, or one of 'next' and 'undo'. */
  run: (command: string, press: KeyboardEvent) => void
  /** Takes a press before the key table does; true where it was taken (the letter after F). */
  grab: (press: KeyboardEvent) => boolean
  /** The state to keep where the unit is left without an answer (a skip). */
  leave: () => unknown
  focus: () => void
}

interface KindModule {
  default: Component<DeskProps, Desk>
  bindings: readonly Binding[]
  /** A value in a few words, for the lists of earlier answers. */
  inWords(value: Value | null): string
  /** What a unit is about, in one line. */
  inShort(card: Card): string
  noun: string
}

/** A kind without an entry here fails the type check. */
export const kinds: Record<Kind, () => Promise<KindModule>> = {
  label: () => import('./label/index.ts'),
  discourse: () => import('./discourse/index.ts'),
  tuple: () => import('./tuple/index.ts'),
}
export type { KindModule }
