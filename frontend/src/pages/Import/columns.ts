/** Roles of the columns of an own corpus (annotation/formats/columns/mapping.py). */
import type { Schemas } from '../../api/client.ts'

export type Tried = Schemas['Tried']
export type Column = Schemas['Column']
export type Row = Schemas['TableRow']
export type TableFault = Schemas['TableFault']

type Option = readonly [value: string, name: string]

export const ROLES: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  '': [['kept', 'Kept as is'], ['out', 'Left out']],
  Item: [['key', 'Key'], ['title', 'Title'], ['question', 'Question'], ['background', 'Background'], ['topic', 'Topic'], ['split', 'Split'], ['target', 'Target'], ['output', 'Summary of a system']],
  Input: [['input', 'Input'], ['input_id', 'Input id'], ['passage', 'Passage'], ['page', 'Page'], ['url', 'Address of the page']],
  Answer: [['label', 'Label of a kind'], ['rating', 'Rating']],
}
export const REQUIRED: ReadonlySet<string> = new Set(['key', 'target', 'question', 'input', 'passage', 'output'])
/** Kinds whose labels a table can contain: of passages, or of documents. */
export const KINDS: readonly Option[] = [['passage', 'passage relevance'], ['screen', 'screening']]
/** Roles whose cells are long texts. */
const WIDE: ReadonlySet<string> = new Set(['input', 'passage', 'page', 'target', 'output', 'question', 'background'])

/** A setting of the file, with its choices. */
export interface Setting {
  key: 'format' | 'delimiter' | 'quote' | 'header' | 'encoding' | 'rows' | 'level'
  name: string
  options: readonly Option[]
}
const SETTINGS: readonly Setting[] = [
  { key: 'format', name: 'Format', options: [['csv', 'CSV or TSV'], ['jsonl', 'JSON lines'], ['json', 'JSON'], ['parquet', 'Parquet']] },
  { key: 'delimiter', name: 'Delimiter', options: [[',', 'comma ,'], [';', 'semicolon ;'], ['\t', 'tab'], ['|', 'bar |']] },
  { key: 'quote', name: 'Quote', options: [['"', 'double "'], ["'", "single '"], ['', 'none']] },
  { key: 'header', name: 'First row', options: [['true', 'column names'], ['false', 'data']] },
  { key: 'encoding', name: 'Encoding', options: [['utf-8', 'UTF-8'], ['windows-1252', 'Windows-1252'], ['utf-16', 'UTF-16']] },
  { key: 'rows', name: 'One row is', options: [['item', 'an item'], ['input', 'an input of an item']] },
  { key: 'level', name: 'A target is', options: [['documents', 'a document'], ['sentences', 'a sentence of a review']] },
]
const OF_CSV: ReadonlySet<string> = new Set(['delimiter', 'quote', 'header'])

/** The settings that a table has: only CSV has delimiters, and only a corpus of documents has levels. */
export function settingsOf(tried: Tried): Setting[] {
  return SETTINGS.filter(
    ({ key }) =>
      (!OF_CSV.has(key) || tried.format === 'csv') &&
      (key !== 'encoding' || tried.format !== 'parquet') &&
      (key !== 'level' || tried.shape === 'documents' || tried.shape === 'sentences'),
  )
}

/** A mapping in the form that the server reads and people export. */
export function asJson(tried: Tried): string {
  const { format, encoding, delimiter, quote, header, rows, level, guessed } = tried
  const columns = Object.fromEntries(tried.columns.map(({ name, ...column }) => [name, column]))
  return JSON.stringify({ format, encoding, delimiter, quote, header, rows, level, guessed, columns }, null, 1)
}

/** Change a setting. It is no guess any more. */
export function withSetting(tried: Tried, key: string, value: string): Tried {
  const guessed = tried.guessed.filter((name) => name !== key)
  return { ...tried, guessed, [key]: key === 'header' ? value === 'true' : value }
}

/** Change a column. Its role is no guess any more. */
export function withColumn(tried: Tried, name: string, change: Partial<Column>): Tried {
  return { ...tried, columns: tried.columns.map((one) => (one.name === name ? { ...one, is_guessed: false, ...change } : one)) }
}

/** Confirm the guessed roles without which nothing is imported. */
export function confirmed(tried: Tried): Tried {
  return { ...tried, unconfirmed: [], columns: tried.columns.map((one) => (REQUIRED.has(one.role) ? { ...one, is_guessed: false } : one)) }
}

/** Numbers of the columns, those with a role first. */
export function ordered(columns: readonly Column[]): number[] {
  const rank = ({ role }: Column) => (role === 'out' ? 2 : role === 'kept' ? 1 : 0)
  return columns.map((_, n) => n).sort((a, b) => rank(columns[a]!) - rank(columns[b]!) || a - b)
}

export function classOf({ role }: Column): string {
  return role === 'out' ? 'out narrow' : role === 'kept' ? 'narrow' : WIDE.has(role) ? 'text' : ''
}
