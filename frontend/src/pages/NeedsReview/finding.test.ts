import { render } from 'svelte/server'
import { expect, it } from 'vitest'
import type { Schemas } from '../../api/client.ts'
import FindingItem from './FindingItem.svelte'
import { columnsOf, differing } from './finding.ts'

it('marks the values that differ from the usual one', () => {
  expect(differing(['weak', 'moderate', 'weak'])).toEqual([false, true, false])
  expect(differing(['negative', 'positive'])).toEqual([false, true])
  expect(differing(['weak', 'weak'])).toEqual([false, false])
  expect(differing(['weak'])).toEqual([false])
})

it('shows texts only if they differ, and values only if there are any', () => {
  const unit = (text: string, polarity = '') => ({ text, polarity, modality: '' })
  expect(columnsOf([unit('a', 'positive'), unit('a')])).toEqual({ texts: false, values: true })
  expect(columnsOf([unit('a'), unit('b')])).toEqual({ texts: true, values: false })
})

it('shows the tuple and the values of each unit, and which value differs', () => {
  const element = (element: string, text: string) => ({ element, text, form: 'span', fragments: [] })
  const unit = (id: number, outcome: string, modality: string) => ({
    unit: id, unit_name: `PMID ${id}, target`, text: 'Bevacizumab was noninferior.', marked: [], polarity: 'no effect', modality,
    pico: [element('i', 'bevacizumab'), element('o', outcome)],
  })
  const units = [unit(1, 'acuity', 'weak'), unit(2, 'safety', 'weak'), unit(3, 'cost', 'moderate')]
  const finding = { id: 7, rule: 'wording', reason: 'One sentence, two labels.', units, is_information: false, decision: '', can_be_sent: true, queues: [] }
  const { body } = render(FindingItem, {
    props: { finding: finding as unknown as Schemas['Finding'], slug: 'eye', isCurrent: true, busy: false, selected: false, reasons: { dismiss: '', send: '' }, onfocus: () => {}, onanswer: () => Promise.resolve(true) },
  })
  const cells = [...body.matchAll(/<(?:td|th) role="(?:cell|rowheader)".*?<\/t[dh]>/gs)].map(([cell]) => cell.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ').trim())
  expect(cells).toEqual([
    'bevacizumab → acuity', '= no effect', 'weak', 'PMID 1, target',
    'bevacizumab → safety', '= no effect', 'weak', 'PMID 2, target',
    'bevacizumab → cost', '= no effect', 'moderate differs', 'PMID 3, target',
  ])
})
