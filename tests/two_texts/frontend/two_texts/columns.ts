/** The points of two texts on the curate page. */

import type { Cluster, KindColumns } from 'concord/kinds/columns.ts'
import { POINTS, type Name, type Value } from './state.ts'

interface Said {
  readonly target: string
  readonly input: string
}
const NAMES: readonly Name[] = ['target', 'input']
const none = { shown: 0, seen: 0, is_stale: false, decided_by: null, value: null, origin: null }

const cell = (cluster: Cluster) => cluster.others.find((other) => other.kind === 'two_texts') ?? none
const said = (cluster: Cluster): Partial<Value> => cell(cluster).value ?? {}

const columns: KindColumns<Cluster, Said> = {
  kind: 'two_texts',
  of: 'clusters',
  order: 40,
  columns: NAMES.map((name) => ({
    key: `clear_${name}`,
    title: `Clear: ${name}`,
    keys: Object.fromEntries(POINTS.map((n) => [String(n), String(n)])),
    show: (w) => w[name],
    put: (w, text) => (/^[1-5]?$/.test(text.trim()) ? { ...w, [name]: text.trim() } : `“${text}” is not one of 1 to 5.`),
  })),
  begin: (cluster) => ({ target: String(said(cluster).target ?? ''), input: String(said(cluster).input ?? '') }),
  follow: (w) => w,
  state: cell,
  hasCurrentValue: (cluster) => cell(cluster).value !== null,
  origin: (cluster) => cell(cluster).origin,
  same: (a, b) => a.target === b.target && a.input === b.input,
  lacks: (w) => (NAMES.every((name) => w[name]) ? '' : 'points for both texts'),
  value: (w) => ({ target: Number(w.target), input: Number(w.input), remark: '' }),
  words: (w) => `${w.target} and ${w.input}`,
  columnOf: (path) => (path.includes('input') ? 'clear_input' : 'clear_target'),
}
export default columns
