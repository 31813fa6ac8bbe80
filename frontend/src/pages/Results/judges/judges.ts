/** What judges are worth, as the page prints it. */

import type { Schemas } from '../../../api/client.ts'
import { decimal, interval, percent, pValue } from '../../../components/format.ts'
import type { Finding } from '../../../components/finding.ts'

export type Judged = Schemas['JudgedCriterion']
export type JudgeFigure = Schemas['JudgeFigure']

/** Decision in words. It is never shown by colour alone. */
export const DECISIONS: Record<Judged['decision'], string> = { yes: 'May replace', no: 'May not replace', unknown: 'Cannot be shown' }
export const GROUPS = [
  { key: 'experts', title: 'Experts', epsilon: '.20' },
  { key: 'skilled', title: 'Skilled raters', epsilon: '.15' },
  { key: 'crowd', title: 'Crowd', epsilon: '.10' },
] as const

/** One sentence per criterion; the decision is bold. */
export function sentences(criteria: readonly Judged[], note: string): Finding[] {
  return criteria.map(({ sentence, decision }) => {
    const bold = { yes: 'may replace a rater', no: 'may not replace a rater', unknown: 'cannot show' }[decision]
    const at = sentence.indexOf(bold)
    const parts = at < 0 ? [{ words: sentence }] : [{ words: sentence.slice(0, at) }, { words: bold, strong: true }, { words: sentence.slice(at + bold.length) }]
    return { parts: parts.filter((part) => part.words), note }
  })
}

/** "0.61 [0.50, 0.72]"; with `share`, "12% [8%, 20%]". A dash without a value. */
export function shown(figure: JudgeFigure | null | undefined, { share = false, signed = false }: { share?: boolean; signed?: boolean } = {}): string {
  if (!figure || figure.value === null) return '–'
  const value = share ? percent(figure.value) : `${signed && figure.value > 0 ? '+' : ''}${decimal(figure.value)}`
  const ci = share && figure.ci ? `[${percent(figure.ci[0])}, ${percent(figure.ci[1])}]` : interval(figure.ci)
  return [value, ci].filter(Boolean).join(' ')
}

/** The tests of the raters: the larger p of the plain and the clustered test of each, in the order of raters. */
export function pValues({ annotators }: Schemas['AlternativeTest']): string[] {
  return annotators.map((a) => pValue(a.p_clustered === null ? a.p : Math.max(a.p, a.p_clustered)))
}

/** Why figures are missing or have no interval: each reason once, with the columns it concerns. */
export function reasons(columns: readonly { name: string; figures: readonly (JudgeFigure | null | undefined)[] }[]): string[] {
  const names = new Map<string, Set<string>>()
  for (const { name, figures } of columns)
    for (const figure of figures) {
      const why = figure?.undefined || figure?.ci_reason
      if (why) names.set(why, (names.get(why) ?? new Set()).add(name))
    }
  return [...names].map(([why, those]) => `${[...those].join(', ')}: ${why}.`)
}

/** "as precise as 31 sources"; empty where nothing is saved or there is no interval. */
export function savedWords(system: { n?: number; saved?: number | null; ci?: readonly number[] | null }): string {
  const { n = 0, saved, ci } = system
  return saved && ci && Math.round(saved) > n ? `as precise as ${Math.round(saved)} sources instead of ${n}` : ''
}
