/** What can be said of a sentence, in both ways of asking: the values, their keys, and how they read. */

import type { Schemas } from '../../api/client.ts'

export type Class = Schemas['ClassifiedSentence']['said']
export type Mark = Schemas['EvidenceSentence']['said']
export type Said = Class | Mark
export type Task = Schemas['SentencesCard']['task']

export interface Choice<T extends string = Said> {
  readonly value: T
  /** As it is printed on the button. */
  readonly key: string
  readonly title: string
  readonly says: string
}

/** MS^2's nine classes, in its order. */
export const CLASSES: readonly Choice<Class>[] = [
  { value: 'BACKGROUND', key: '1', title: 'Background', says: 'what is known, why it matters' },
  { value: 'GOAL', key: '2', title: 'Goal', says: 'what the review wants to find out' },
  { value: 'METHODS', key: '3', title: 'Methods', says: 'how; how many studies' },
  { value: 'DETAILED_FINDINGS', key: '4', title: 'Detailed findings', says: 'results with figures' },
  { value: 'EVIDENCE_QUALITY', key: '5', title: 'Evidence quality', says: 'bias, certainty' },
  { value: 'EFFECT', key: '6', title: 'Effect', says: 'the answer, in words' },
  { value: 'RECOMMENDATION', key: '7', title: 'Recommendation', says: 'for practice' },
  { value: 'FURTHER_STUDY', key: '8', title: 'Further study', says: 'what to study next' },
  { value: 'ETC', key: '9', title: 'Anything else', says: 'funding, registration' },
]

export const MARKS: readonly Choice<Mark>[] = [
  { value: 'picked', key: 'P', title: 'Pick', says: 'a conclusion about an effect' },
  { value: 'other comparator', key: '1', title: 'Other comparator', says: 'not that of the studies' },
  { value: 'table data', key: '2', title: 'Table data', says: 'figures, study by study' },
  { value: 'statistic', key: '3', title: 'Statistic', says: 'a correlation, a regression' },
  { value: 'needs aggregation', key: '4', title: 'Needs aggregation', says: 'true of all studies together' },
  { value: 'no support', key: '5', title: 'No support', says: 'not in the abstracts' },
  { value: 'neither', key: '0', title: 'Nothing', says: 'take back what was said' },
]

export const choicesOf = (task: Task): readonly Choice[] => (task === 'sentence_classes' ? CLASSES : MARKS)

const TITLES = new Map<string, string>([...CLASSES, ...MARKS].map((c) => [c.value, c.title]))

/** What stands beside a sentence of which that was said; empty where it bears no evidence. */
export function beside(said: Said | null): string {
  if (!said || said === 'neither') return ''
  if (said === 'picked') return 'picked'
  return CLASSES.some((c) => c.value === said) ? TITLES.get(said)! : `refused: ${said}`
}
