/** Parse typed or pasted rows into new clusters and propositions, and report faults before anything is sent. */

import type { Schemas } from '../../api/client.ts'
import type { Column } from '../../grid/model.ts'
import type { AnyColumns, NewField, NewRow } from '../../kinds/columns.ts'
import type { AllColumns } from '../../kinds/index.ts'

export type NewCluster = Schemas['NewClusterRequest']
export type NewInput = Schemas['NewInputRequest']

/** A row as typed, by field. `sentence` is the id of its target sentence. */
export type Typed = Readonly<Record<string, string | number>>

const PMID: NewField = { key: 'pmid', title: 'Study', also: ['study pmid', 'pubmed', 'pubmed id'] }
const TEXT: NewField = { key: 'text', title: 'Text', also: ['proposition', 'sentence'] }

export interface RowFault {
  /** Index of the row in the grid. */
  row: number
  field: string
  why: string
}

/** The parsed rows. `rowOf` maps a path in the request ("rows.0.inputs.1.pmid") to the row of the grid. */
export interface Making<T> {
  rows: T[]
  faults: RowFault[]
  inputs: number
  rowOf: (path: string) => number
}

export function textOf(row: Typed, field: string): string {
  const text = row[field]
  return typeof text === 'string' ? text : ''
}

type Reader = NewRow & { columnOf: (path: string) => string }
const readers = (kinds: readonly AnyColumns[]): Reader[] => kinds.flatMap((k) => (k.newRow ? [{ ...k.newRow, columnOf: k.columnOf }] : []))

/** Rows of new clusters, or with `inputsOnly` of new inputs for an existing cluster. */
export class NewRows {
  readonly fields: readonly NewField[]
  private readonly ofClusters: readonly Reader[]
  private readonly ofClaims: readonly Reader[]

  constructor({ ofClusters, ofClaims }: AllColumns, private readonly inputsOnly: boolean) {
    this.ofClaims = readers(ofClaims)
    this.ofClusters = readers(inputsOnly ? [] : ofClusters)
    const place = (before: boolean) => [...this.ofClaims, ...this.ofClusters].filter((k) => k.before === before).flatMap((k) => k.fields)
    this.fields = [...place(true), PMID, TEXT, ...place(false)]
  }

  blank(): Typed {
    return Object.fromEntries(this.fields.map((f) => [f.key, '']))
  }

  isBlank(row: Typed): boolean {
    return this.fields.every((f) => !textOf(row, f.key).trim())
  }

  columns(): Column<Typed>[] {
    return this.fields.map(({ key, title, keys }) => ({
      key, title, wide: key === TEXT.key ? 3.25 : 1, show: (row) => textOf(row, key), put: (row, text) => ({ ...row, [key]: text }), ...(keys ? { keys } : {}),
    }))
  }

  /** The field that a heading names, or undefined. */
  private fieldOf(heading: string): NewField | undefined {
    const name = heading.trim().toLowerCase().replaceAll('_', ' ')
    return this.fields.find((f) => [f.key.replaceAll('_', ' '), f.title.toLowerCase()].includes(name)) ?? this.fields.find((f) => f.also?.includes(name))
  }

  /** Pasted cells in the order of the grid's columns; null if their first row does not name columns. */
  byHeading(cells: readonly (readonly string[])[]): { cells: string[][]; unknown: string[] } | null {
    const head = cells[0]?.map((heading) => this.fieldOf(heading)) ?? []
    if (head.filter(Boolean).length < 2) return null
    const place = this.fields.map((f) => head.indexOf(f))
    const unknown = cells[0]!.filter((name, i) => name.trim() && !head[i])
    return { cells: cells.slice(1).map((row) => place.map((at) => (at < 0 ? '' : (row[at] ?? '')))), unknown }
  }

  /** The column that a path in a server error refers to. */
  fieldAt(path: string): string {
    const parts = path.split('.')
    const kind = [...this.ofClusters, ...this.ofClaims].find((k) => parts.includes(k.property))
    if (kind) return kind.columnOf(parts.slice(parts.indexOf(kind.property) + 1).join('.'))
    return parts.includes(PMID.key) ? PMID.key : TEXT.key
  }

  make(typed: readonly Typed[]): Making<NewCluster | NewInput> {
    return this.inputsOnly ? this.inputs(typed) : this.clusters(typed)
  }

  /** The kinds' values of a row, by their property in the request. */
  private values(kinds: readonly Reader[], row: Typed, at: number, faults: RowFault[]): Record<string, unknown> {
    const texts = Object.fromEntries([...Object.keys(row)].map((field) => [field, textOf(row, field)]))
    return Object.fromEntries(kinds.map((k) => [k.property, k.read(texts, (field, why) => faults.push({ row: at, field, why }))]))
  }

  private inputOf(row: Typed, at: number, faults: RowFault[]): NewInput {
    const pmid = textOf(row, PMID.key).trim()
    const text = textOf(row, TEXT.key)
    if (!pmid) faults.push({ row: at, field: PMID.key, why: 'Enter the PMID of the study.' })
    else if (!/^[1-9]\d{0,9}$/.test(pmid)) faults.push({ row: at, field: PMID.key, why: `“${pmid}” is not a PMID (up to ten digits).` })
    if (!text.trim()) faults.push({ row: at, field: TEXT.key, why: 'Enter a text.' })
    return { pmid, text, ...this.values(this.ofClaims, row, at, faults) }
  }

  private targetOf(row: Typed, at: number, faults: RowFault[]): NewCluster & { inputs: NewInput[] } {
    const text = textOf(row, TEXT.key)
    if (!text.trim()) faults.push({ row: at, field: TEXT.key, why: 'Enter a text for the target.' })
    const sentence = typeof row.sentence === 'number' ? { sentence: row.sentence } : {}
    return { text, ...sentence, ...this.values([...this.ofClusters, ...this.ofClaims], row, at, faults), inputs: [] }
  }

  /** Parse rows for an existing cluster: each is an input. */
  private inputs(typed: readonly Typed[]): Making<NewInput> {
    const faults: RowFault[] = []
    const from: number[] = []
    const rows = typed.flatMap((row, at) => {
      if (this.isBlank(row)) return []
      from.push(at)
      return [this.inputOf(row, at, faults)]
    })
    return { rows, faults, inputs: rows.length, rowOf: (path) => from[Number(/^rows\.(\d+)/.exec(path)?.[1] ?? 0)] ?? 0 }
  }

  /** Parse rows into clusters: a row without a study is a target; the rows with a study below are its inputs. */
  private clusters(typed: readonly Typed[]): Making<NewCluster> {
    const faults: RowFault[] = []
    const rows: (NewCluster & { inputs: NewInput[] })[] = []
    const from: { target: number; inputs: number[] }[] = []
    typed.forEach((row, at) => {
      if (this.isBlank(row)) return
      if (!textOf(row, PMID.key).trim()) {
        rows.push(this.targetOf(row, at, faults))
        from.push({ target: at, inputs: [] })
        return
      }
      const last = from.at(-1)
      if (!last) {
        faults.push({ row: at, field: PMID.key, why: 'The first row must be a target, without a study; its inputs follow.' })
        return
      }
      faults.push(...this.anothers(row, typed[last.target]!).map((fault) => ({ row: at, ...fault })))
      last.inputs.push(at)
      rows.at(-1)!.inputs.push(this.inputOf(row, at, faults))
    })
    const rowOf = (path: string) => {
      const found = /^rows\.(\d+)(?:\.inputs\.(\d+))?/.exec(path)
      const cluster = from[Number(found?.[1] ?? 0)]
      return (found?.[2] === undefined ? cluster?.target : cluster?.inputs[Number(found[2])]) ?? 0
    }
    return { rows, faults, inputs: rows.reduce((n, c) => n + c.inputs.length, 0), rowOf }
  }

  /** Faults where an input's row gives the cluster another value than its target's row. Repeating the value is allowed. */
  private anothers(row: Typed, target: Typed): Omit<RowFault, 'row'>[] {
    return this.ofClusters.flatMap(({ another, fields }) => {
      if (!another) return []
      const other = fields.filter(({ key }) => textOf(row, key).trim() && textOf(row, key) !== textOf(target, key))
      return other.map(({ key }) => ({ field: key, why: another }))
    })
  }
}
