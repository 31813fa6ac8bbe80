/** The page of one question: its steps, the current sentence, and what of it is drawn. */

import { findIn } from '../../rating/source.ts'
import type { EditorProps } from '../kind.ts'
import { chunkAt, coverage, repeats, unitOf, textOf, type Chunk } from './chunks.ts'
import { cursorAt, extendBlock, extendTo, nudge, within, type Cursor } from './cursor.ts'
import { DraftKeeper, type Position, type Stored } from './draft.ts'
import { begin, chunksOfPassages, countsOf, extractiveOf, factsOf, nameOf, reduce, startsOf, toDraft, toValue, type Action, type Facts, type State } from './state.ts'
import { outlineOf, sourceOf, squeezed, type Card } from './structure.ts'

/** How the page moves to a sentence: only as far as needed, or with the sentence at the top or in the middle. */
export type Scroll = 'nearest' | 'start' | 'center'

export class Writing {
  readonly card: Card
  readonly facts: Facts
  state = $state.raw<State>(null!)
  cursor = $state.raw<Cursor>(cursorAt(0))
  /** Whether only the chosen sentences are shown. */
  only = $state(false)
  outlined = $state(false)
  term = $state('')
  /** Index of the current match. */
  hit = $state(0)
  /** On a narrow page one pane is shown. */
  pane = $state<'source' | 'text'>('source')
  /** Announced to screen readers. */
  said = $state('')
  /** A warning, or ''. */
  notice = $state('')
  /** Where the person continues, until something is changed. */
  resumed = $state('')
  /** Time at which the draft was kept. */
  keptAt = $state.raw<Date | null>(null)

  readonly step = $derived.by(() => this.facts.steps[this.state.at])
  readonly entry = $derived.by(() => this.state.entries[this.state.at])
  readonly isLook = $derived(!this.step)
  readonly form = $derived(this.step?.form ?? null)
  readonly name = $derived.by(() => nameOf(this.facts, this.state.at))
  private readonly passage = $derived(this.step?.passage ?? null)
  readonly shown = $derived.by(() => (this.passage === null ? this.card.passages.map((_, n) => n) : [this.passage]))
  readonly source = $derived.by(() => sourceOf(this.card.passages, this.shown))
  readonly outline = $derived.by(() => outlineOf(this.card.passages, this.source))
  /** The chunks drawn on the source: those of the extractive summary of the same passages. */
  readonly chunks = $derived.by((): readonly Chunk[] => this.state.entries[extractiveOf(this.facts, this.state.at)]?.chunks ?? NONE)
  readonly covered = $derived.by(() => coverage(this.source.units, this.chunks))
  readonly chosen = $derived.by(() => this.covered.filter((c) => c !== 'no').length)
  private readonly passageChunks = $derived.by(() => (this.form === 'extractive' && this.passage === null ? chunksOfPassages(this.facts, this.state.entries) : NONE))
  /** Sentences that an extractive summary of a single passage has. */
  readonly before = $derived.by(() => coverage(this.source.units, this.passageChunks))
  readonly hasBefore = $derived.by(() => this.passageChunks.length > 0)
  readonly repeats = $derived.by(() => repeats(this.card.passages, this.chunks))
  readonly hits = $derived.by(() => findIn(this.shown.map((n) => this.card.passages[n]!.text), this.term).map((h) => ({ passage: this.shown[h.study]!, ...h.range })))
  readonly counts = $derived.by(() => (this.isLook ? null : countsOf(this.facts, this.state.entries, this.state.at)))
  readonly starts = $derived.by(() => startsOf(this.facts, this.state.entries, this.state.at))
  /** Index of the chunk at the cursor; -1 without one. */
  readonly here = $derived.by(() => chunkAt(this.chunks, this.source.units[this.cursor.at]))

  /** Scroll a sentence into view; focus it too. Set by the source. */
  showUnit: (unit: number, scroll: Scroll, focus: boolean) => void = () => {}
  scrollTop: () => number = () => 0
  scrollTo: (top: number) => void = () => {}
  /** The text field, if there is one. Set by it. */
  field: HTMLTextAreaElement | null = null
  /** Focus what the current step begins with. Set by the page. */
  focusStart: () => void = () => {}

  /** Whether another tab has submitted the question. */
  private isSubmitted = false
  private positions: Record<number, Position>
  private readonly keeper: DraftKeeper

  constructor(private readonly props: EditorProps) {
    this.card = props.card as Card
    this.facts = factsOf(this.card)
    const stored = props.draft as Stored | null
    this.state = begin(this.facts, stored)
    this.positions = { ...stored?.positions }
    this.keeper = new DraftKeeper(this.card.assignment, {
      current: () => this.stored(),
      keep: (draft) => {
        // Units to try have negative numbers; nothing of them is stored.
        if (this.card.assignment > 0) this.keptAt = new Date()
        props.onchange(draft)
      },
      received: (draft) => this.receive(draft),
      submitted: () => {
        this.isSubmitted = true
        this.notice = 'Submitted in another tab. Reload this page.'
      },
    })
    if (stored?.kept && this.state.at < this.facts.steps.length) this.resumed = `Continued at ${lower(this.name)}. Draft of ${new Date(stored.kept).toLocaleString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' })}.`
    this.pane = this.form === 'extractive' ? 'source' : 'text'
    this.cursor = cursorAt(within(this.source, this.positions[this.state.at]?.unit ?? 0))
  }

  // ---- drafts ----

  private stored(): Stored {
    this.remember()
    return { ...toDraft(this.state), positions: this.positions, kept: Date.now() }
  }

  /** State to keep when the unit is left. */
  leave(): Stored {
    this.keeper.stop()
    return this.stored()
  }
  keepNow = (): void => this.keeper.flush()
  keepSoon = (): void => this.keeper.soon()

  close(): void {
    this.keeper.close()
  }

  /** Another tab changed this question: show its texts at this tab's step. */
  private receive(draft: Stored): void {
    const { at } = this.state
    this.state = { ...begin(this.facts, draft), at }
    this.notice = 'Changed in another tab; this page shows the newest texts.'
  }

  private remember(): void {
    this.positions = { ...this.positions, [this.state.at]: { unit: this.cursor.at, top: this.scrollTop(), caret: this.field?.selectionStart ?? null } }
  }

  /** Return to where the person left the current step. */
  restore(): void {
    const position = this.positions[this.state.at]
    if (position?.top) this.scrollTo(position.top)
    if (position?.caret != null) this.field?.setSelectionRange(position.caret, position.caret)
  }

  // ---- changes ----

  act(action: Action): boolean {
    const previous = this.state
    const { at } = previous
    const after = reduce(this.facts, previous, action)
    if (after === previous) return false
    if (after.at !== at) this.remember()
    this.state = after
    if (after.complete) {
      this.keeper.submitted()
      this.props.onvalue(toValue(this.facts, after), { ...this.stored(), at })
      return true
    }
    if (after.refusal) {
      this.said = after.refusal.says
      this.pane = 'text'
      return false
    }
    this.resumed = ''
    if (!this.isSubmitted) this.notice = ''
    if (after.at !== at) this.enter()
    if (after.entries !== previous.entries || after.at !== at) this.keeper.soon(action.do === 'type')
    return true
  }

  private enter(): void {
    this.only = this.outlined = false
    this.pane = this.form === 'extractive' ? 'source' : 'text'
    this.cursor = cursorAt(within(this.source, this.positions[this.state.at]?.unit ?? 0))
    this.said = this.name
    this.focusStart()
  }

  private countsInWords(): string {
    const { words = 0, sentences = 0 } = this.counts ?? {}
    return `${words} ${words === 1 ? 'word' : 'words'}, ${sentences} ${sentences === 1 ? 'sentence' : 'sentences'}`
  }

  /** Take a range in an extractive step; insert it in an abstractive one. */
  take(range: Chunk): void {
    if (this.form === 'abstractive') return this.insert(squeezed(textOf(this.card.passages, range)))
    this.cursor = { ...this.cursor, anchor: null, range: null }
    if (this.act({ do: 'take', range })) this.said = `Taken. ${this.countsInWords()}`
  }

  /** Take the marked range, or take or drop the current sentence. */
  toggle(): void {
    const unit = this.source.units[this.cursor.at]
    if (this.isLook || !unit) return
    if (this.cursor.range) return this.take(this.cursor.range)
    const { passage, start, end } = unit
    if (this.form === 'extractive' && this.covered[this.cursor.at] === 'yes') {
      if (this.act({ do: 'drop', range: { passage, start, end } })) this.said = `Removed. ${this.countsInWords()}`
    } else this.take({ passage, start, end })
  }

  insert(text: string): void {
    const from = this.field?.selectionStart ?? Infinity
    if (this.act({ do: 'insert', text, from, to: this.field?.selectionEnd ?? from })) this.said = `Inserted. ${this.countsInWords()}`
  }

  moveChunk(index: number, by: number): void {
    if (this.act({ do: 'move', index, by })) this.said = `Chunk moved to ${index + by + 1} of ${this.chunks.length}`
  }
  removeChunk(index: number): void {
    if (this.act({ do: 'remove', index })) this.said = 'Chunk removed'
  }

  undo(back: boolean): void {
    const isEmpty = !(back ? this.state.trail : this.state.undone).length
    if (!isEmpty) this.act({ do: back ? 'undo' : 'redo' })
    this.said = isEmpty ? `Nothing to ${back ? 'undo' : 'redo'}` : back ? 'Undone' : 'Redone'
  }

  // ---- the cursor ----

  isVisible(unit: number): boolean {
    return !this.only || this.covered[unit] !== 'no'
  }

  private show(cursor: Cursor, scroll: Scroll = 'nearest', focus = true): void {
    this.cursor = cursor
    this.showUnit(cursor.at, scroll, focus)
    this.keeper.soon(true)
  }

  goTo(unit: number, scroll: Scroll = 'nearest', focus = true): void {
    this.show(cursorAt(within(this.source, unit)), scroll, focus)
  }

  /** Move by a number of visible sentences; `extend` marks them. */
  moveBy(by: number, extend: boolean): void {
    if (extend) return this.mark(extendTo(this.source, this.cursor, this.cursor.at + by))
    let at = within(this.source, this.cursor.at + by)
    const towards = Math.sign(by)
    while (this.source.units[at] && !this.isVisible(at)) at += towards
    if (this.source.units[at]) this.goTo(at)
  }

  toEnd(of: 'first' | 'last', extend: boolean): void {
    this.moveBy(of === 'first' ? -this.source.units.length : this.source.units.length, extend)
  }

  private mark(cursor: Cursor): void {
    this.show(cursor)
    const { range } = cursor
    const n = this.source.units.filter((u) => range && u.passage === range.passage && u.start < range.end && range.start < u.end).length
    this.said = `${n} ${n === 1 ? 'sentence' : 'sentences'} marked`
  }

  markBlock(): void {
    if (this.source.units.length) this.mark(extendBlock(this.card.passages, this.source, this.cursor))
  }

  nudge(edge: 'start' | 'end', by: 1 | -1): void {
    if (!this.source.units.length) return
    this.cursor = nudge(this.card.passages, this.source, this.cursor, edge, by)
    if (this.cursor.range) this.said = squeezed(textOf(this.card.passages, this.cursor.range))
  }

  letGo(): void {
    this.cursor = cursorAt(this.cursor.at)
  }

  /** Go to the next chunk in the order of the text, or the previous one. */
  nextChunk(back: boolean): void {
    const found = this.chunks.map((c) => unitOf(this.source, c)).filter((n) => n >= 0).sort((a, b) => a - b)
    if (!found.length) return void (this.said = 'Nothing chosen')
    const to = back ? (found.findLast((n) => n < this.cursor.at) ?? found.at(-1)) : (found.find((n) => n > this.cursor.at) ?? found[0])
    this.goTo(to!, 'center')
  }

  showChunk(index: number, focus: boolean): void {
    const unit = this.chunks[index] ? unitOf(this.source, this.chunks[index]) : -1
    if (unit < 0) return
    if (focus) this.pane = 'source'
    this.goTo(unit, 'center', focus)
  }

  toggleOnly(): void {
    if (!this.only && !this.chosen) return void (this.said = 'Nothing chosen')
    this.only = !this.only
    if (!this.isVisible(this.cursor.at)) this.cursor = cursorAt(this.covered.findIndex((c) => c !== 'no'))
    this.said = this.only ? 'Only chosen sentences are shown' : 'All sentences are shown'
  }

  /** Go to another match of the search. */
  toHit(to: number): void {
    if (!this.hits.length) return
    this.hit = (to + this.hits.length) % this.hits.length
    const unit = unitOf(this.source, this.hits[this.hit]!)
    this.only = false
    if (unit >= 0) this.goTo(unit, 'center', false)
  }
}

const NONE: readonly Chunk[] = []
export const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
