/** The corpus in words, for read-only pages. */

import type { Schemas } from '../../api/client.ts'
import type { ChipState } from '../StateChip.svelte'
import { counted } from '../format.ts'

/** "381 clusters", "229 reviews": the kinds of material with their counts. */
export function contents(kinds: readonly Pick<Schemas['MaterialKind'], 'singular' | 'plural' | 'count'>[]): string[] {
  return kinds.length ? kinds.map((k) => (k.count === null ? k.plural : counted(k.count, k.singular, k.plural))) : ['No material yet']
}

/** States of reviews of MS^2: glyph and words. */
export const REVIEW_STATES: Record<NonNullable<Exclude<Schemas['ReviewReadings']['state'], ''>>, [ChipState, string]> = {
  machine: ['machine', 'Machine only'],
  asked: ['open', 'In a round'],
  decided: ['done', 'Decided by people'],
}

/** Flag, skip and comment of an answer, all that apply. */
export function raised(answer: { flag: boolean; outcome: string; reason: string; comment: string }): string {
  return [answer.flag ? 'flagged' : '', answer.outcome === 'skipped' ? `skipped: ${answer.reason}` : '', answer.comment ? 'commented' : ''].filter(Boolean).join(', ')
}

export const ORIGINS: Record<Schemas['OriginEnum'], string> = {
  imported: 'imported',
  machine: 'machine: by a model',
  single: 'by one person',
  unanimous: 'unanimous',
  'by majority': 'by majority',
  'decided by a curator': 'decided by a curator',
  contested: 'contested: to be adjudicated',
  reopened: 'reopened: to be adjudicated',
}
