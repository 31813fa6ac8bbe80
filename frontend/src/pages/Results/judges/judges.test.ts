import { describe, expect, it } from 'vitest'
import { asText } from '../../../components/finding.ts'
import { pValues, reasons, savedWords, sentences, shown, type JudgeFigure, type Judged } from './judges.ts'

const figure = (value: number | null, ci: number[] | null = null, more: Partial<JudgeFigure> = {}): JudgeFigure => ({ value, ci, n: 40, sources: 10, ci_reason: '', undefined: '', ...more })

describe('what judges are worth', () => {
  it('marks the decision in the sentence', () => {
    const [finding] = sentences([{ decision: 'no', sentence: 'Quill v1 may not replace a rater for Fluency in these data: 8% of its answers are invalid.' } as Judged], 'Rule.')
    expect(finding!.parts.map((part) => part.strong ?? false)).toEqual([false, true, false])
    expect(asText(finding!)).toBe('Quill v1 may not replace a rater for Fluency in these data: 8% of its answers are invalid. (Rule.)')
  })

  it('prints a value with its interval, or a dash', () => {
    expect(shown(figure(0.614, [0.5, 0.723]))).toBe('0.61 [0.50, 0.72]')
    expect(shown(figure(0.12, [0.08, 0.2]), { share: true })).toBe('12% [8%, 20%]')
    expect(shown(figure(0.3), { signed: true })).toBe('+0.30')
    expect(shown(figure(null))).toBe('–')
  })

  it('states each reason once', () => {
    const why = { ci_reason: 'no reliable interval (few reviews; n = 10 reviews)' }
    expect(reasons([{ name: 'Length', figures: [figure(0.1, null, why), figure(0.2, null, why)] }, { name: 'People', figures: [figure(1, null, why)] }])).toEqual([
      'Length, People: no reliable interval (few reviews; n = 10 reviews).',
    ])
  })

  it('prints the larger p of each rater', () => {
    const annotators = [{ p: 0.001, p_clustered: 0.02 }, { p: 0.3, p_clustered: null }] as never
    expect(pValues({ annotators } as never)).toEqual(['p = .020', 'p = .30'])
  })

  it('says what is saved only if something is', () => {
    expect(savedWords({ n: 20, saved: 29.4, ci: [1, 2] })).toBe('as precise as 29 sources instead of 20')
    expect(savedWords({ n: 20, saved: 20.2, ci: [1, 2] })).toBe('')
    expect(savedWords({ n: 20, saved: 29.4, ci: null })).toBe('')
  })
})
