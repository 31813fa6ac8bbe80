import { describe, expect, it } from 'vitest'
import { asJson, confirmed, ordered, settingsOf, withColumn, withSetting, type Column, type Tried } from './columns.ts'

const column = (name: string, role: string): Column => ({ name, role, is_guessed: true, split: '', of: 'item', form: 'abstractive', writer: '', kind: 'passage', low: 1, high: 4, untag: false })
const tried = (...columns: Column[]): Tried => ({
  format: 'csv', encoding: 'utf-8', delimiter: ',', quote: '"', header: true, rows: 'item', level: 'documents', guessed: ['delimiter', 'rows'],
  columns, shape: 'documents', size: 1, rows_read: 1, is_complete: true, first_rows: [], fault_rows: [], faults: [], faults_total: 0,
  missing: [], unconfirmed: ['id'], counts: {}, items: [],
})

describe('the mapping of columns', () => {
  it('puts columns with a role first, and those left out last', () => {
    expect(ordered([column('a', 'kept'), column('b', 'out'), column('c', 'key'), column('d', 'input')])).toEqual([2, 3, 0, 1])
  })
  it('confirms required roles only', () => {
    const { columns } = confirmed(tried(column('id', 'key'), column('name', 'title')))
    expect(columns.map((one) => one.is_guessed)).toEqual([false, true])
  })
  it('takes what people set as confirmed', () => {
    const changed = withSetting(withColumn(tried(column('id', 'kept')), 'id', { role: 'key' }), 'header', 'false')
    expect(changed.columns[0]).toMatchObject({ role: 'key', is_guessed: false })
    expect([changed.header, withSetting(changed, 'rows', 'input').guessed]).toEqual([false, ['delimiter']])
  })
  it('exports the columns by name, without their rows', () => {
    const value = JSON.parse(asJson(tried(column('id', 'key')))) as Record<string, unknown>
    expect(value.columns).toMatchObject({ id: { role: 'key' } })
    expect(value).not.toHaveProperty('first_rows')
  })
  it('asks for delimiters of CSV only, and for levels of documents only', () => {
    expect(settingsOf({ ...tried(), format: 'json', shape: 'questions' }).map((one) => one.key)).toEqual(['format', 'encoding', 'rows'])
  })
})
