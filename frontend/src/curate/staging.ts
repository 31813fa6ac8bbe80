/** Rows typed or pasted to become clusters and propositions: what will be made, and what is wrong, before anything is sent. */

import type { Schemas } from '../api/client.ts'
import type { Column } from '../grid/model.ts'
import { labelCells, type LabelSaid } from '../kinds/label/cells.ts'

export type NewCluster = Schemas['NewClusterRequest']
export type NewInput = Schemas['NewInputRequest']

export const FIELDS = ['p', 'i', 'c', 'o', 'pmid', 'text', 'polarity', 'polarity_cue', 'modality', 'modality_cue', 'relation'] as const
export type Field = (typeof FIELDS)[number]
/** A row as typed. `sentence` is the target sentence that it was begun from. */
export type Typed = Readonly<Record<Field, string>> & { readonly sentence?: number }

const TITLES: Record<Field, string> = {
  p: 'Population', i: 'Intervention', c: 'Comparator', o: 'Outcome', pmid: 'Study', text: 'Text',
  polarity: 'Polarity', polarity_cue: 'Polarity cue', modality: 'Modality', modality_cue: 'Modality cue', relation: 'Relation',
}
/** Other names by which spreadsheets call the same columns, in lower case. */
const ALSO: Record<string, Field> = {
  participants: 'p', patients: 'p', comparison: 'c', control: 'c', 'study pmid': 'pmid', pubmed: 'pmid', 'pubmed id': 'pmid',
  proposition: 'text', sentence: 'text', 'polarity cues': 'polarity_cue', 'modality cues': 'modality_cue', discourse: 'relation',
}
export const INPUT_FIELDS: readonly Field[] = ['pmid', 'text', 'polarity', 'polarity_cue', 'modality', 'modality_cue']

export function blank(): Typed {
  return Object.fromEntries(FIELDS.map((f) => [f, ''])) as unknown as Typed
}

export function columns(fields: readonly Field[]): Column<Typed>[] {
  const wide: Partial<Record<Field, number>> = { text: 3.25 }
  return fields.map((f) => ({
    key: f, title: TITLES[f], wide: wide[f] ?? 1, show: (row) => row[f], put: (row, text) => ({ ...row, [f]: text }),
    ...(f === 'polarity' || f === 'modality' ? { keys: labelCells.columns.find((c) => c.key === f)!.keys! } : {}),
  }))
}

/** The field that a heading names, or null. */
export function fieldOf(heading: string): Field | null {
  const name = heading.trim().toLowerCase().replaceAll('_', ' ')
  return FIELDS.find((f) => f === name.replaceAll(' ', '_') || TITLES[f].toLowerCase() === name) ?? ALSO[name] ?? null
}

/** Pasted cells in the order of the grid's columns, where their first row names them; else null: they come by order. */
export function byHeading(cells: readonly (readonly string[])[], fields: readonly Field[]): { cells: string[][]; unknown: string[] } | null {
  const head = cells[0]?.map(fieldOf) ?? []
  if (head.filter(Boolean).length < 2) return null
  const place = fields.map((f) => head.indexOf(f))
  const unknown = cells[0]!.filter((name, i) => name.trim() && !fields.includes(head[i] as Field))
  return { cells: cells.slice(1).map((row) => place.map((at) => (at < 0 ? '' : (row[at] ?? '')))), unknown }
}

export interface RowFault {
  /** Counted from 0, among the rows of the grid. */
  row: number
  field: Field
  why: string
}

/** What will be made. `rowOf` gives the grid's row of a path in the request ("rows.0.inputs.1.pmid"), for the server's faults. */
export interface Making<T> {
  rows: T[]
  faults: RowFault[]
  inputs: number
  rowOf: (path: string) => number
}

const isBlank = (row: Typed) => FIELDS.every((f) => !row[f].trim())

/** Labels by the same rule as in the grid; a label must be whole or not there at all. */
function labelOf(row: Typed, at: number, faults: RowFault[]): Schemas['NewInputRequest']['label'] {
  let said: LabelSaid = { text: row.text, polarity: '', modality: '', polarityCue: [], modalityCue: [] }
  let wrong = false
  for (const column of labelCells.columns) {
    const typed = row[column.key as Field]
    if (!typed.trim()) continue
    // What one value makes of the other (no evidence is n/a) is no fault; two values that contradict one another are.
    const before = said
    const is = column.put!(said, typed)
    if (typeof is === 'string') {
      faults.push({ row: at, field: column.key as Field, why: is })
      wrong = true
    } else said = is
    if (column.key === 'modality' && before.polarity && said.polarity !== before.polarity) {
      faults.push({ row: at, field: 'polarity', why: 'Polarity is n/a exactly when the modality is no evidence.' })
      wrong = true
    }
  }
  const any = said.polarity || said.modality || said.polarityCue.length || said.modalityCue.length
  if (wrong || !any) return null
  const lacks = labelCells.lacks(said)
  if (lacks) {
    faults.push({ row: at, field: said.polarity ? 'modality' : 'polarity', why: `A label needs ${lacks} as well, or nothing at all.` })
    return null
  }
  return labelCells.value(said) as Schemas['NewInputRequest']['label']
}

function inputOf(row: Typed, at: number, faults: RowFault[]): NewInput {
  const pmid = row.pmid.trim()
  if (!pmid) faults.push({ row: at, field: 'pmid', why: 'Which study is it taken from? Its PubMed id.' })
  else if (!/^[1-9]\d{0,9}$/.test(pmid)) faults.push({ row: at, field: 'pmid', why: `“${pmid}” is no PubMed id: up to ten digits.` })
  if (!row.text.trim()) faults.push({ row: at, field: 'text', why: 'There is no text.' })
  return { pmid, text: row.text, label: labelOf(row, at, faults) }
}

/** Rows into one cluster that is there: each is an input. */
export function inputsOf(typed: readonly Typed[]): Making<NewInput> {
  const faults: RowFault[] = []
  const from: number[] = []
  const rows = typed.flatMap((row, at) => {
    if (isBlank(row)) return []
    from.push(at)
    return [inputOf(row, at, faults)]
  })
  return { rows, faults, inputs: rows.length, rowOf: (path) => from[Number(/^rows\.(\d+)/.exec(path)?.[1] ?? 0)] ?? 0 }
}

/** Rows into clusters: a row without a study is a target and begins one, the rows with a study below it are its inputs. */
export function clustersOf(typed: readonly Typed[]): Making<NewCluster> {
  const faults: RowFault[] = []
  const rows: (NewCluster & { inputs: NewInput[] })[] = []
  const from: { target: number; inputs: number[] }[] = []
  typed.forEach((row, at) => {
    if (isBlank(row)) return
    if (!row.pmid.trim()) {
      rows.push(targetOf(row, at, faults))
      from.push({ target: at, inputs: [] })
      return
    }
    const last = from.at(-1)
    if (!last) {
      faults.push({ row: at, field: 'pmid', why: 'The first row is a target, which has no study; its inputs come under it.' })
      return
    }
    for (const slot of ['p', 'i', 'c', 'o'] as const) {
      // Flat sheets repeat the tuple in every row: the same again is no fault.
      if (row[slot].trim() && row[slot] !== typed[last.target]![slot])
        faults.push({ row: at, field: slot, why: 'Another tuple is another cluster: its target comes first, in a row without a study.' })
    }
    last.inputs.push(at)
    rows.at(-1)!.inputs.push(inputOf(row, at, faults))
  })
  const rowOf = (path: string) => {
    const found = /^rows\.(\d+)(?:\.inputs\.(\d+))?/.exec(path)
    const cluster = from[Number(found?.[1] ?? 0)]
    return (found?.[2] === undefined ? cluster?.target : cluster?.inputs[Number(found[2])]) ?? 0
  }
  return { rows, faults, inputs: rows.reduce((n, c) => n + c.inputs.length, 0), rowOf }
}

function targetOf(row: Typed, at: number, faults: RowFault[]): NewCluster & { inputs: NewInput[] } {
  if (!row.text.trim()) faults.push({ row: at, field: 'text', why: 'A target has a text.' })
  const stands = /^=\s*(placebo|none|not stated)\s*$/i.exec(row.c)?.[1]?.toLowerCase() as 'placebo' | 'none' | 'not stated' | undefined
  const tuple: NewCluster['tuple'] = { p: { text: row.p }, i: { text: row.i }, c: { text: stands ? '' : row.c, stands_for: stands ?? '' }, o: { text: row.o } }
  const any = [row.p, row.i, row.c, row.o].some((s) => s.trim())
  const word = row.relation.trim().toLowerCase()
  const relation = word ? (['agreement', 'contradiction'] as const).find((r) => r.startsWith(word)) : null
  if (relation === undefined) faults.push({ row: at, field: 'relation', why: `“${row.relation}” is no relation: agreement or contradiction.` })
  return {
    text: row.text, ...(row.sentence ? { sentence: row.sentence } : {}), tuple: any ? tuple : null,
    label: labelOf(row, at, faults), relation: relation ?? null, inputs: [],
  }
}

/** The column that a fault of the server is about. */
export function fieldAt(path: string): Field {
  const slot = /\btuple\.([pico])\b/.exec(path)?.[1]
  if (slot) return slot as Field
  const parts = path.split('.').reverse()
  return parts.map((p) => FIELDS.find((f) => f === p)).find(Boolean) ?? 'text'
}
