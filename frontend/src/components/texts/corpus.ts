/** The corpus in words, for read-only pages. */

import type { Schemas } from '../../api/client.ts'

export interface Holding {
  name: string
  n: number
}

/** Numbers of the objects in the corpus, without zeros. */
export function holds(s: Schemas['Summary']): Holding[] {
  return [
    { name: 'Reviews', n: s.reviews },
    { name: 'Studies', n: s.studies },
    { name: 'Documents', n: s.documents },
    { name: 'Sentences', n: s.sentences },
    { name: 'Clusters', n: s.clusters },
    { name: 'Propositions', n: s.propositions },
    { name: 'Counterfactuals', n: s.counterfactuals.reduce((sum, c) => sum + c.count, 0) },
  ].filter((h) => h.n > 0)
}

/** Flag, skip and comment of an answer, all that apply. */
export function raised(answer: { flag: boolean; outcome: string; reason: string; comment: string }): string {
  return [answer.flag ? 'flagged' : '', answer.outcome === 'skipped' ? `skipped: ${answer.reason}` : '', answer.comment ? 'commented' : ''].filter(Boolean).join(', ')
}

export const ORIGINS: Record<Schemas['OriginEnum'], string> = {
  imported: 'imported',
  single: 'by one person',
  unanimous: 'unanimous',
  'by majority': 'by majority',
  'decided by a curator': 'decided by a curator',
  contested: 'contested: to be adjudicated',
  reopened: 'reopened: to be adjudicated',
}
