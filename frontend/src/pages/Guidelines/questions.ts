/** Questions about a guideline, as a lead writes them. */

import type { Schemas } from '../../api/client.ts'

export type Question = Schemas['QuestionRequest']

export const MOST = 30
export const OPTIONS = { least: 2, most: 6 }

export function fresh(): Question {
  return { question: '', options: ['', ''], right: 0, explanation: '' }
}

/** Whether every question can be stored: it has a text and distinct options, one of them right. */
export function complete(questions: readonly Question[]): boolean {
  return questions.every(
    (q) =>
      q.question.trim() !== '' && q.options.length >= OPTIONS.least && q.options.every((o) => o.trim() !== '') &&
      new Set(q.options.map((o) => o.trim())).size === q.options.length && q.right < q.options.length,
  )
}

/** The question without one of its options; if that was the right one, the first becomes right. */
export function without(q: Question, option: number): Question {
  const options = q.options.filter((_, n) => n !== option)
  const right = q.right === option ? 0 : q.right > option ? q.right - 1 : q.right
  return { ...q, options, right }
}

/** The guideline that the newest open round uses; without one the first. */
export function inUse<G extends Pick<Schemas['GuidelineRow'], 'in_use_since'>>(guidelines: readonly G[]): G | undefined {
  return guidelines.reduce<G | undefined>((best, g) => ((g.in_use_since ?? '') > (best?.in_use_since ?? '') ? g : best), guidelines[0])
}
