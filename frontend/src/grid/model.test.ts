import { describe, expect, it } from 'vitest'
import { begin, copied, isSelected, reduce, renew, type Action, type Facts, type State } from './model.ts'
import { parse } from './tsv.ts'

interface Row {
  study: string
  text: string
  polarity: string
}
const POLARITIES = ['positive', 'no effect', 'negative', '']
const facts: Facts<Row> = {
  columns: [
    { key: 'study', title: 'Study', show: (r) => r.study },
    { key: 'text', title: 'Text', show: (r) => r.text, put: (r, text) => ({ ...r, text }) },
    {
      key: 'polarity', title: 'Polarity', show: (r) => r.polarity, keys: { a: 'positive', s: 'no effect' },
      put: (r, polarity) => (POLARITIES.includes(polarity) ? { ...r, polarity } : `“${polarity}” is no polarity.`),
    },
  ],
}
const growing: Facts<Row> = { ...facts, fresh: () => ({ study: '', text: '', polarity: '' }) }
const three = (): Row[] => ['1', '2', '3'].map((study) => ({ study, text: `text ${study}`, polarity: '' }))
const play = (f: Facts<Row>, state: State<Row>, ...actions: Action<Row>[]) => actions.reduce((s, a) => reduce(f, s, a), state)
const go = (row: number, col: number, extend = false): Action<Row> => ({ do: 'go', row, col, extend })
const polarities = (s: State<Row>) => s.rows.map((r) => r.polarity)

describe('the grid', () => {
  it('moves by cells and stays inside', () => {
    const s = play(facts, begin(three()), { do: 'move', rows: -1, cols: 5, extend: false }, { do: 'move', rows: 9, cols: 0, extend: false })
    expect(s.at).toEqual({ row: 2, col: 2 })
  })

  it('selects a block from where it began, back to one cell again', () => {
    const s = play(facts, begin(three()), go(2, 2), go(1, 1, true))
    expect([isSelected(s, 1, 1), isSelected(s, 2, 2), isSelected(s, 0, 1)]).toEqual([true, true, false])
    expect(play(facts, s, go(2, 2, true)).anchor).toBeNull()
    expect(play(facts, s, go(0, 0)).anchor).toBeNull()
  })

  it('begins to type over a cell, keeps it with Enter and moves down, lets it go with Escape', () => {
    const typing = play(facts, begin(three()), go(0, 1), { do: 'type', key: 'n' }, { do: 'draft', text: 'new' })
    expect(typing.editing).toBe('new')
    const kept = play(facts, typing, { do: 'commit', rows: 1, cols: 0 })
    expect([kept.rows[0]!.text, kept.at.row, kept.editing]).toEqual(['new', 1, null])
    const gone = play(facts, typing, { do: 'cancel' })
    expect([gone.rows[0]!.text, gone.at.row]).toEqual(['text 1', 0])
  })

  it('edits what is there with F2, and leaves read cells alone', () => {
    expect(play(facts, begin(three()), go(0, 1), { do: 'edit' }).editing).toBe('text 1')
    expect(play(facts, begin(three()), { do: 'edit' }).editing).toBeNull()
    expect(play(facts, begin(three()), { do: 'type', key: 'x' }).editing).toBeNull()
  })

  it('gives a value by its key to all selected cells of its column', () => {
    const s = play(facts, begin(three()), go(0, 2), go(1, 2, true), { do: 'type', key: 'S' })
    expect(polarities(s)).toEqual(['no effect', 'no effect', ''])
    expect(play(facts, s, { do: 'type', key: 'x' })).toBe(s)
  })

  it('fills down from the first selected row, or from the row above one cell', () => {
    const set = play(facts, begin(three()), go(0, 2), { do: 'type', key: 'a' })
    expect(polarities(play(facts, set, go(2, 2, true), { do: 'fill' }))).toEqual(['positive', 'positive', 'positive'])
    expect(polarities(play(facts, set, go(1, 2), { do: 'fill' }))).toEqual(['positive', 'positive', ''])
    expect(play(facts, set, go(0, 2), { do: 'fill' }).said).toMatch(/No row above/)
  })

  it('copies a block as a spreadsheet takes it, and pastes it again', () => {
    const s = play(facts, begin(three()), go(0, 1), { do: 'paste', cells: [['two\nlines', 'negative']] })
    const block = copied(facts, s)
    expect(block).toBe('"two\nlines"\tnegative')
    const again = play(facts, s, go(2, 1), { do: 'paste', cells: parse(block) })
    expect(again.rows[2]).toEqual({ study: '3', text: 'two\nlines', polarity: 'negative' })
  })

  it('puts one pasted cell into all that are selected', () => {
    const s = play(facts, begin(three()), go(0, 2), go(2, 2, true), { do: 'paste', cells: [['negative']] })
    expect(polarities(s)).toEqual(['negative', 'negative', 'negative'])
  })

  it('says what of a paste fell outside, and names the cells that refused with what they were given', () => {
    const s = play(facts, begin(three()), go(1, 2), { do: 'paste', cells: [['positive', 'x'], ['better'], ['negative']] })
    expect(polarities(s)).toEqual(['', 'positive', ''])
    expect(s.said).toBe('1 cell pasted. 1 cell not changed. Left out, outside the grid: 1 row, 1 column.')
    expect(s.faults).toEqual([{ row: 2, col: 2, text: 'better', why: '“better” is no polarity.' }])
    // Another value in that cell ends its fault.
    expect(play(facts, s, go(2, 2), { do: 'type', key: 'a' }).faults).toEqual([])
  })

  it('takes ragged rows, and a block copied with columns that are only read', () => {
    const s = play(facts, begin(three()), { do: 'paste', cells: [['1', 'a', 'positive'], ['2', 'b']] })
    expect(s.rows.map((r) => r.text)).toEqual(['a', 'b', 'text 3'])
    expect(s.faults).toEqual([])
    const wrong = play(facts, begin(three()), { do: 'paste', cells: [['9', 'a']] })
    expect(wrong.faults[0]).toMatchObject({ row: 0, col: 0, text: '9' })
  })

  it('grows by what is pasted or typed into its last row, where it may', () => {
    const empty = begin([growing.fresh!()])
    const s = play(growing, empty, go(0, 1), { do: 'paste', cells: [['a', 'positive'], ['b', '']] })
    expect(s.rows.map((r) => r.text)).toEqual(['a', 'b', ''])
    const typed = play(growing, s, go(2, 1), { do: 'type', key: 'c' }, { do: 'commit', rows: 1, cols: 0 })
    expect([typed.rows.length, typed.at.row]).toEqual([4, 3])
  })

  it('undoes step by step, a whole paste at once', () => {
    const s = play(facts, begin(three()), go(0, 2), { do: 'type', key: 'a' }, { do: 'paste', cells: [['negative'], ['negative']] })
    const once = play(facts, s, { do: 'undo' })
    expect(polarities(once)).toEqual(['positive', '', ''])
    const twice = play(facts, once, { do: 'undo' })
    expect(polarities(twice)).toEqual(['', '', ''])
    expect(play(facts, twice, { do: 'undo' }).said).toMatch(/Nothing to undo/)
  })

  it('empties what is selected, and keeps no step that changed nothing', () => {
    const s = play(facts, begin(three()), go(0, 1), go(1, 1, true), { do: 'clear' })
    expect(s.rows.map((r) => r.text)).toEqual(['', '', 'text 3'])
    expect(play(facts, begin(three()), go(0, 1), { do: 'edit' }, { do: 'commit', rows: 1, cols: 0 }).rows[0]!.text).toBe('text 1')
  })

  it('stays where it was when the rows come anew, inside what is there now', () => {
    const s = renew(facts, play(facts, begin(three()), go(2, 2), { do: 'type', key: 'a' }), three().slice(0, 2))
    expect([s.at, s.trail, polarities(s)]).toEqual([{ row: 1, col: 2 }, [], ['', '']])
  })
})
