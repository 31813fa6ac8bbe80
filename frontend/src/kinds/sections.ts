/** The sentences of an abstract, grouped by heading. */

import type { Schemas } from '../api/client.ts'

type Sentence = Schemas['AbstractSentence']

/** Sentences under one heading; `first` is the index of the first among all sentences. */
export interface Section {
  readonly title: string
  readonly first: number
  readonly sentences: readonly Sentence[]
}

export function sectionsOf(sentences: readonly Sentence[]): readonly Section[] {
  const found: (Section & { sentences: Sentence[] })[] = []
  for (const [n, sentence] of sentences.entries()) {
    const last = found.at(-1)
    if (last?.title === sentence.section) last.sentences.push(sentence)
    else found.push({ title: sentence.section, first: n, sentences: [sentence] })
  }
  return found
}
