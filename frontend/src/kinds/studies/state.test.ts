import { expect, it } from 'vitest'
import { nowhere } from '../tutorial.ts'
import { parsePasted } from './pasted.ts'
import { inWords, Listing, type Card } from './state.ts'

const card = (value: Card['value'] = null, cited = ['11', '12', '13']): Card => ({
  ...nowhere(1), kind: 'studies', pmid: '99', title: 'Nepralin', abstract: '', year: 2020, value, full_text: null,
  cited: cited.map((pmid) => ({ pmid, text: `Trial ${pmid}`, marked: pmid.startsWith('9') })),
})
const listed = (of: Listing) => of.value.included_studies.listed.map((one) => one.pmid)

it('finds PMIDs however they are pasted, and no years of references', () => {
  expect(parsePasted('1, 2;3\n4 1')).toEqual({ pmids: ['1', '2', '3', '4'], again: ['1'], others: [] })
  expect(parsePasted('https://pubmed.ncbi.nlm.nih.gov/123/ PMID: 456 PMID789').pmids).toEqual(['123', '456'])
  expect(parsePasted('PMID: 5 6').pmids).toEqual(['5', '6'])
  expect(parsePasted('Adams A. Nepralin. J Inv 2010;3(1):2. PMID: 31000000.')).toEqual({ pmids: ['31000000'], again: [], others: [] })
  expect(parsePasted('Adams A. Nepralin. J Inv 2010;3(1):2.').pmids, 'no number of it is said to be a PMID').toEqual([])
  expect(parsePasted('PMID: 7, 8 abc')).toEqual({ pmids: ['7', '8'], again: [], others: ['abc'] })
  expect(parsePasted('12 abc 0 12345678901')).toEqual({ pmids: ['12'], again: [], others: ['abc', '0', '12345678901'] })
  expect(parsePasted('  ').pmids).toEqual([])
})

it('takes one paste for a whole list, says what was there already, and ends with Enter', () => {
  const pastedOnce = Listing.begin(card(), null).paste('12 77 12')
  expect(pastedOnce.nudge).toBe('2 listed. Pasted twice: 12.')
  expect(pastedOnce.rows.map((row) => [row.pmid, row.cited])).toEqual([['77', false], ['11', true], ['12', true], ['13', true]])
  const again = pastedOnce.paste('77 99 x')
  expect(again.nudge).toBe('0 listed. Already listed: 77. 99 is the review itself. Not a PMID: x.')
  expect(listed(again)).toEqual(['77', '12'])
  expect(again.next().complete).toBe(true)
})

it('lists references one by one, goes on by itself, and takes one off', () => {
  const two = Listing.begin(card(), null).toggle().toggle()
  expect([listed(two), two.at]).toEqual([['11', '12'], 2])
  const off = two.move(-1).toggle()
  expect([listed(off), off.at]).toEqual([['11'], 1])
  expect(listed(off.undo())).toEqual(['11', '12'])
  expect(Listing.begin(card(null, []), null).toggle().count, 'there is nothing to list').toBe(0)
})

it('lists a study whose abstract cannot be had, and takes the reason back', () => {
  const old = Listing.begin(card(), null).lacks('old')
  expect(old.value.included_studies.listed).toEqual([{ pmid: '11', missing: 'old' }])
  expect(old.lacks('old').value.included_studies.listed).toEqual([{ pmid: '11', missing: '' }])
  expect(inWords(old.more(2).value)).toBe('1 study, 1 without an abstract, 2 without a PMID')
})

it('counts what PubMed does not have, never below none', () => {
  const begun = Listing.begin(card(), null)
  expect([begun.more(1).more(1).more(-1).without, begun.more(-1).without]).toEqual([1, 0])
  expect(begun.more(1).next().complete).toBe(true)
})

it('lists all that the full text marks by one key, and says which have no PMID', () => {
  const of = card(null, ['91', '92', '13'])
  const begun = Listing.begin({ ...of, cited: [...of.cited, { pmid: '', text: 'A thesis', marked: true }] }, null)
  expect([listed(begun.all()), begun.all().nudge]).toEqual([['91', '92'], '2 listed. 1 marked without a PMID: search PubMed, or count them with +.'])
  expect(begun.go(3).toggle().nudge).toContain('This reference has no PMID')
  expect(begun.go(3).lacks('old').count).toBe(0)
  expect(Listing.begin(card(), null).all().nudge).toBe('No reference is marked as an included study.')
})

it('asks twice where nothing is listed', () => {
  const once = Listing.begin(card(), null).next()
  expect([once.complete, once.next().complete]).toEqual([false, true])
  expect(once.move(1).next().complete, 'anything in between asks again').toBe(false)
})

it('begins with its draft, else with its answer, and keeps to what there is', () => {
  const value = { included_studies: { listed: [{ pmid: '77', missing: 'old' as const }, { pmid: '12', missing: '' as const }], without_pmid: 1 } }
  const begun = Listing.begin(card(value), null)
  expect([begun.pasted, begun.value, begun.canUndo]).toEqual([['77'], value, false])
  expect(Listing.begin(card(), begun.paste('5').draft).value.included_studies.listed.map((one) => one.pmid)).toEqual(['77', '5', '12'])
  expect([begun.go(99).at, begun.move(-1).at]).toEqual([3, 0])
})
