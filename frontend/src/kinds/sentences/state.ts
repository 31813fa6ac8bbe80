/** State of one abstract with a value for each sentence. Immutable: each step returns a new object. */

import type { Schemas } from '../../api/client.ts'
import { besideSentence, choicesOf, type Class, type Mark, type Said, type Task } from './choices.ts'

export type Card = Schemas['SentencesCard']
export type Value = Schemas['SentencesValue']

/** Draft of an unfinished unit. */
export interface Draft {
  said: readonly (Said | null)[]
  at: number
  dropped: boolean
}

export class Marking {
  private constructor(
    readonly card: Card,
    readonly said: readonly (Said | null)[],
    /** Index of the current sentence. */
    readonly at: number,
    readonly dropped: boolean,
    /** Message below the buttons. */
    readonly nudge: string,
    /** Whether the answer can be stored; the page then moves on. */
    readonly complete: boolean,
    private readonly before: Marking | null,
  ) {}

  /** Initial state: the draft, otherwise the answer. */
  static begin(card: Card, draft: Draft | null): Marking {
    const stored = draft?.said.length === card.sentences.length ? draft : null
    const said = stored?.said ?? answered(card)
    return new Marking(card, said, stored?.at ?? 0, stored?.dropped ?? !!card.value?.evidence_sentences?.dropped, '', false, null)
  }

  get task(): Task {
    return this.card.task
  }
  get draft(): Draft {
    return { said: this.said, at: this.at, dropped: this.dropped }
  }
  /** Number of sentences without a required class. */
  get missing(): number {
    return this.task === 'sentence_classes' ? this.said.filter((one) => !one).length : 0
  }
  get canUndo(): boolean {
    return this.before !== null
  }

  /** Set the value of the current sentence and move to the next. */
  say(said: Said): Marking {
    if (!choicesOf(this.task).some((c) => c.value === said)) return this
    const last = this.at === this.said.length - 1
    const marks = this.said.map((one, n) => (n === this.at ? said : one))
    const missing = this.task === 'sentence_classes' ? marks.filter((one) => !one).length : 0
    return this.after({ said: marks, at: last ? this.at : this.at + 1, dropped: false, nudge: last ? ending(missing) : '' })
  }
  /** Choose by the key printed on a button of this task. */
  press(key: string): Marking {
    const found = choicesOf(this.task).find((c) => c.key.toLowerCase() === key)
    return found ? this.say(found.value) : this
  }
  /** Drop the review from the data set, or restore it. */
  drop(): Marking {
    if (this.task !== 'evidence_sentences') return this
    const nudge = this.dropped ? '' : 'Press Enter to drop the review: too many studies.'
    return this.after({ dropped: !this.dropped, nudge })
  }
  move(by: number): Marking {
    return this.go(this.at + by)
  }
  go(to: number): Marking {
    const at = Math.max(0, Math.min(this.said.length - 1, to))
    return at === this.at ? this : new Marking(this.card, this.said, at, this.dropped, '', false, this.before)
  }
  /** Complete the abstract, or go to the first sentence without a class. */
  next(): Marking {
    if (this.missing) return this.go(this.said.indexOf(null)).saying(this.missing === 1 ? 'One sentence has no class yet.' : `${this.missing} sentences have no class yet.`)
    const none = this.task === 'evidence_sentences' && !this.dropped && this.said.every((one) => !one || one === 'neither')
    return none && this.nudge !== NONE ? this.saying(NONE) : new Marking(this.card, this.said, this.at, this.dropped, '', true, this.before)
  }
  undo(): Marking {
    return this.before ?? this
  }

  get value(): Value {
    const numbered = this.card.sentences.map((sentence, n) => ({ number: sentence.number, said: this.said[n] ?? 'neither' }))
    if (this.task === 'sentence_classes') return { sentence_classes: numbered as { number: number; said: Class }[] }
    if (this.dropped) return { evidence_sentences: { dropped: 'too many studies', sentences: [] } }
    return { evidence_sentences: { dropped: '', sentences: numbered as { number: number; said: Mark }[] } }
  }

  private after(change: { said?: readonly (Said | null)[]; at?: number; dropped?: boolean; nudge: string }): Marking {
    return new Marking(this.card, change.said ?? this.said, change.at ?? this.at, change.dropped ?? this.dropped, change.nudge, false, this)
  }
  private saying(nudge: string): Marking {
    return new Marking(this.card, this.said, this.at, this.dropped, nudge, false, this.before)
  }
}

const NONE = 'No sentence is picked or refused. Press Enter again if no sentence contains evidence.'
const ending = (missing: number) => (missing ? '' : 'Last sentence done. Press Enter to complete the abstract.')

/** The values of the card's answer, in the order of sentences. */
export function answered({ task, value, sentences }: Card): (Said | null)[] {
  const marks: readonly { number: number; said: Said }[] =
    (task === 'sentence_classes' ? value?.sentence_classes : value?.evidence_sentences?.sentences) ?? []
  const said = new Map(marks.map((one) => [one.number, one.said]))
  return sentences.map((sentence) => said.get(sentence.number) ?? null)
}

/** Number of sentences by value, in words. */
export function inWords(value: Value | null): string {
  if (value?.evidence_sentences?.dropped) return `dropped: ${value.evidence_sentences.dropped}`
  const marks: readonly { said: Said }[] = value?.sentence_classes ?? value?.evidence_sentences?.sentences ?? []
  const counts = new Map<string, number>()
  for (const words of marks.map((one) => besideSentence(one.said)).filter(Boolean)) counts.set(words, (counts.get(words) ?? 0) + 1)
  if (!counts.size) return value ? 'none picked' : ''
  return [...counts].map(([words, n]) => `${n} ${words}`).join(', ')
}
