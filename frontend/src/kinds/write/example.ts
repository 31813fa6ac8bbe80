/** Invented questions for the tests of this folder. */

import type { Card, Passage } from './structure.ts'

/** A passage from its sentences and the white space after each of them. */
export function passageOf(id: number, parts: readonly string[], titled = false): Passage {
  const sentences: { start: number; end: number }[] = []
  let text = ''
  for (const part of parts) {
    const points = [...text].length
    sentences.push({ start: points, end: points + [...part.trimEnd()].length })
    text += part
  }
  return { key: String(id), text, url: '', is_page: false, rating: null, title_end: titled ? sentences[0]!.end : 0, sentences }
}

export const LISTED = passageOf(11, [
  'Nepralin (Side effects): ', 'Nepralin can cause:   ', '- Nausea   ', '- Fever 🤒   ', '- Dizziness.  ', 'It passes.   ', 'See a doctor if it does not. ', 'Do not drive.',
], true)
export const PLAIN = passageOf(12, ['What is nepralin? ', 'It is a drug.   ', 'Overdose. ', 'Call a doctor at once. ', 'Do not drive.'])

/** A question with two passages and all four types. */
export function cardOf(given: Partial<Card> = {}): Card {
  const passages = [LISTED, PLAIN]
  const forms = ['extractive', 'abstractive'] as const
  return {
    kind: 'write', assignment: 1, revision: 0, shown: 1, position: 1, unit: { id: 1, key: '1', unit_name: '1' }, answered_at: null, outcome: null,
    comment: '', flag: false, references: [], value: null, question: 'Is nepralin safe?', passages,
    asked_steps: [...passages.map((p) => p.key), ''].flatMap((passage) => forms.map((form) => ({ passage, form, limit: 6 }))),
    limit_unit: 'words', limits_refuse: false, joiner: ' ', starts_from_extractive: true, ...given,
  } as Card
}

/** The range of a sentence, or of several. */
export function sentence(passage: number, first: number, last = first): { passage: number; start: number; end: number } {
  const { text, sentences } = [LISTED, PLAIN][passage]!
  const to16 = (points: number) => [...text].slice(0, points).join('').length
  return { passage, start: to16(sentences[first]!.start), end: to16(sentences[last]!.end) }
}
