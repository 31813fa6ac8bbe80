/** Options for a sentence in both tasks: values, keys and labels. */

import type { Schemas } from '../../api/client.ts'

export type Class = Schemas['ClassifiedSentence']['said']
export type Mark = Schemas['EvidenceSentence']['said']
export type Said = Class | Mark
export type Task = Schemas['SentencesCard']['task']

export interface Choice<T extends string = Said> {
  readonly value: T
  /** Key printed on the button. */
  readonly key: string
  readonly title: string
  readonly says: string
}

/** MS^2's nine classes, in its order. */
export const CLASSES: readonly Choice<Class>[] = [
  { value: 'BACKGROUND', key: '1', title: 'Background', says: 'known facts, motivation' },
  { value: 'GOAL', key: '2', title: 'Goal', says: 'aim of the review' },
  { value: 'METHODS', key: '3', title: 'Methods', says: 'procedure, number of studies' },
  { value: 'DETAILED_FINDINGS', key: '4', title: 'Detailed findings', says: 'results with numbers' },
  { value: 'EVIDENCE_QUALITY', key: '5', title: 'Evidence quality', says: 'bias, certainty' },
  { value: 'EFFECT', key: '6', title: 'Effect', says: 'conclusion in words' },
  { value: 'RECOMMENDATION', key: '7', title: 'Recommendation', says: 'for practice' },
  { value: 'FURTHER_STUDY', key: '8', title: 'Further study', says: 'future research' },
  { value: 'ETC', key: '9', title: 'Other', says: 'funding, registration' },
]

export const MARKS: readonly Choice<Mark>[] = [
  { value: 'picked', key: 'P', title: 'Pick', says: 'a conclusion about an effect' },
  { value: 'other comparator', key: '1', title: 'Other comparator', says: 'differs from the studies' },
  { value: 'table data', key: '2', title: 'Table data', says: 'numbers by study' },
  { value: 'statistic', key: '3', title: 'Statistic', says: 'a correlation, a regression' },
  { value: 'needs aggregation', key: '4', title: 'Needs aggregation', says: 'holds for all studies together' },
  { value: 'no support', key: '5', title: 'No support', says: 'not in the abstracts' },
  { value: 'neither', key: '0', title: 'Nothing', says: 'clear the value' },
]

export const choicesOf = (task: Task): readonly Choice[] => (task === 'sentence_classes' ? CLASSES : MARKS)

const TITLES = new Map<string, string>([...CLASSES, ...MARKS].map((c) => [c.value, c.title]))

/** Text beside a sentence; empty if it has no value, or bears no evidence. */
export function besideSentence(said: Said | null): string {
  if (!said || said === 'neither') return ''
  if (said === 'picked') return 'picked'
  return CLASSES.some((c) => c.value === said) ? TITLES.get(said)! : `refused: ${said}`
}

/** Notes beside the sentences of an abstract, in their order. */
export const notesOf = (values: readonly (Said | null)[]) => values.map((value) => ({ text: besideSentence(value), strong: value === 'picked' }))
