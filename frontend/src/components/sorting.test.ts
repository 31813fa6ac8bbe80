import { expect, it } from 'vitest'
import { matches, sorted, type Column } from './sorting.ts'

interface Row { name: string; n: number | null }
const columns: Column<Row>[] = [{ key: 'name', title: 'Name', value: (r) => r.name }, { key: 'n', title: 'Count', value: (r) => r.n }, { key: 'act', title: '' }]
const rows = [{ name: 'round 10', n: 1 }, { name: 'Round 9', n: null }, { name: 'Ärzte', n: 3 }]
const names = (key: string, descending = false) => sorted(rows, columns, { key, descending }).map((r) => r.name)

it('sorts text as a person would, and numbers by size', () => {
  expect(names('name')).toEqual(['Ärzte', 'Round 9', 'round 10'])
  expect(names('n', true)).toEqual(['Ärzte', 'round 10', 'Round 9'])
})

it('puts rows without a value last in both directions', () => {
  expect(names('n').at(-1)).toBe('Round 9')
  expect(names('n', true).at(-1)).toBe('Round 9')
})

it('keeps the order of rows without a sortable column', () => expect(names('act')).toEqual(rows.map((r) => r.name)))

it('finds rows that contain every typed word', () => {
  expect(matches('pol MOD', 'Polarity', 'and modality')).toBe(true)
  expect(matches('polarity x', 'Polarity', null)).toBe(false)
  expect(matches('', 'anything')).toBe(true)
})
