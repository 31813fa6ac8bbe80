/** Texts and requests of the Splits page. */

import type { Schemas } from '../../api/client.ts'
import { capital, count } from '../../components/format.ts'

export type Split = Schemas['Split']
export type Level = Schemas['SplitLevelCount']
type Part = Schemas['Part']

type Group = 'review' | 'document' | 'question'

/** What the units of a level belong to and a component consists of. A document and a question are their own. */
export const groupOf = (level: Schemas['SplitLevelEnum']): Group => (level === 'document' || level === 'question' ? level : 'review')

/** What units share that are in one component. */
export const shared = (group: Group): string => (group === 'review' ? 'a review, a study or a text' : 'a study or a text')

/** What a mode does, in the line of facts of a split. */
export function modeInWords({ mode, level }: Pick<Split, 'mode' | 'level'>): string {
  const group = groupOf(level)
  return {
    strict: `by component: what shares ${shared(group)} stays together`,
    drop: `by component, without named ${group}s`,
    given: 'as in the imported data',
    imported: 'from a file',
  }[mode]
}

/** Units of a level: one, several. */
export const NOUNS: Record<Schemas['SplitLevelEnum'], [string, string]> = {
  proposition: ['cluster', 'clusters'],
  sentence: ['target sentence', 'target sentences'],
  document: ['document', 'documents'],
  review: ['review', 'reviews'],
  question: ['question', 'questions'],
}

export const STRATA: Record<string, string> = { topic: 'Topic', relation: 'Relation of inputs', polarity: 'Target polarity', size: 'Inputs' }

/** Read "train=80, dev=10, test=10"; a sentence if it cannot be read. The server checks the names. */
export function readParts(text: string): Part[] | string {
  const parts = []
  for (const piece of text.split(',')) {
    const [name, share, ...more] = piece.split('=').map((s) => s.trim())
    const value = Number(share?.replace(/%$/, ''))
    if (!name || !share || more.length || !(value > 0)) return `“${piece.trim()}” is no part. Example: train=80, dev=10, test=10`
    parts.push({ name, share: value / 100 })
  }
  const total = Math.round(1e4 * parts.reduce((sum, p) => sum + p.share, 0)) / 100
  if (parts.length < 2) return 'At least two parts are needed.'
  return total === 100 ? parts : `The shares sum to ${total}%; they must sum to 100%.`
}

/** Words of a text, which are separated by white space or commas. */
export const words = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

/** The ends of the parts in percent, where the lines of the shares are drawn. */
export const ends = (parts: readonly Part[]): number[] => parts.slice(0, -1).map((_, i) => 100 * parts.slice(0, i + 1).reduce((sum, p) => sum + p.share, 0))

/** The strata of a report in groups: all units first, without a name. */
export function grouped(strata: Split['report']['strata']): [string, Split['report']['strata']][] {
  return [...new Set(strata.map((s) => s.name))].map((name) => [name, strata.filter((s) => s.name === name)])
}

/** Whether no pair of parts shares anything that was searched. */
export const isClean = (pairs: readonly Schemas['SplitPair'][]): boolean => pairs.every((p) => !p.pmids.count && !p.texts.count && !p.near?.count)

/** "Train, test" */
export const pairName = (parts: readonly string[]): string => capital(parts.join(', '))

/** "29 of 381 clusters from 15 reviews that share studies or texts, 102 PMIDs in all; all in train." */
export function largestInWords(split: Split): string {
  const { largest } = split.report.components
  const [one, many] = NOUNS[split.level]
  const where = largest.parts.length === 1 ? `; all in ${largest.parts[0]}` : largest.parts.length ? `; in ${largest.parts.join(', ')}` : ''
  const units = `${count(largest.units)} of ${count(largest.of)} ${largest.of === 1 ? one : many}`
  if (split.level === 'question') return `${units}${where}.`
  if (split.level === 'document') return `${units} that share studies or texts, ${count(largest.pmids)} PMIDs in all${where}.`
  const reviews = largest.reviews === 1 ? 'one review' : `${count(largest.reviews)} reviews that share studies or texts`
  return `${units} from ${reviews}, ${count(largest.pmids)} PMIDs in all${where}.`
}
