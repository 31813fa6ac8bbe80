/** The corpus in words, as the pages that only read it say it. */

import type { Schemas } from '../api/client.ts'

export interface Holding {
  name: string
  n: number
}

/** How much there is, without what there is none of. */
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

/** What somebody raised with an answer: all of it, not the first that applies. */
export function raised(answer: { flag: boolean; outcome: string; reason: string; comment: string }): string {
  return [answer.flag ? 'flagged' : '', answer.outcome === 'skipped' ? `skipped: ${answer.reason}` : '', answer.comment ? 'commented' : ''].filter(Boolean).join(', ')
}

export const ORIGINS: Record<Schemas['OriginEnum'], string> = {
  imported: 'imported',
  single: 'by one person',
  unanimous: 'unanimous',
  'by majority': 'by majority',
  'decided by a curator': 'decided by a curator',
  contested: 'contested: left to adjudication',
  reopened: 'reopened: to be adjudicated',
}

/** The key of the cluster that a proposition's unit belongs to: "18462575_0/4" is the fourth input of "18462575_0". */
export function clusterOf(unitKey: string): string {
  return unitKey.replace(/\/\d+$/, '')
}
