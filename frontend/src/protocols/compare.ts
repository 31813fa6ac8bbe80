/** In what two versions of a protocol differ, field by field and word by word. */

import type { Content, Criterion, Option } from './draft.ts'

export interface Difference {
  /** Where, in words: "Coherence, point 3, anchor". */
  where: string
  before: string
  after: string
}
export interface Piece {
  text: string
  kind: 'same' | 'gone' | 'new'
}

const flag = (value: boolean) => (value ? 'yes' : 'no')

function optionLines(out: Map<string, string>, where: string, options: readonly Option[]): void {
  for (const o of options) {
    out.set(`${where}, ${o.value}, label`, o.label)
    out.set(`${where}, ${o.value}, anchor`, o.anchor)
  }
  out.set(`${where}, order`, options.map((o) => o.value).join(', '))
}

function criterionLines(out: Map<string, string>, c: Criterion): void {
  const at = c.name || c.key
  const { options, severities, ...scale } = c.scale
  out.set(`${at}, name`, c.name)
  out.set(`${at}, question`, c.question)
  out.set(`${at}, more`, c.more)
  out.set(`${at}, standard name`, c.standard)
  out.set(`${at}, group`, c.group)
  out.set(`${at}, frame`, [c.frame, c.beside].filter(Boolean).join(', beside it: '))
  for (const [name, value] of Object.entries(scale)) out.set(`${at}, scale, ${name}`, value === null ? '' : String(value))
  optionLines(out, `${at}, options`, options)
  optionLines(out, `${at}, severities`, severities)
  out.set(`${at}, N/A`, c.na ? c.na_label || 'N/A' : 'no')
  out.set(`${at}, required`, flag(c.required))
  out.set(`${at}, reason`, [c.reason.ask, ...c.reason.required_at].join(', '))
  out.set(`${at}, shown if`, c.shown_if ? `${c.shown_if.criterion}: ${c.shown_if.values.join(', ')}` : '')
  out.set(`${at}, prefilled`, c.prefill.map((p) => `${p.if.criterion}: ${p.if.values.join(', ')}${p.target.length ? ` (target ${p.target.join(', ')})` : ''} → ${p.na ? 'N/A' : p.value}`).join('; '))
  out.set(`${at}, good values`, Array.isArray(c.better) ? c.better.join(', ') : (c.better ?? ''))
  c.examples.forEach((e, n) => {
    const where = `${at}, example ${n + 1}`
    out.set(`${where}, is`, e.good ? 'good' : 'bad')
    for (const name of ['query', 'source', 'summary', 'value', 'explanation'] as const) out.set(`${where}, ${name}`, e[name])
    out.set(`${where}, marks`, e.marks.map((m) => `${m.in} ${m.start}–${m.end}`).join(', '))
  })
}

function lines(content: Content): Map<string, string> {
  const out = new Map<string, string>()
  out.set('Title', content.title)
  out.set('Instructions', content.instructions)
  out.set('Shown', `query ${flag(content.show.query)}, source ${flag(content.show.source)}, target ${content.show.target}`)
  out.set('Texts on a page', content.texts_per_page)
  out.set('Hints', flag(content.hints))
  out.set('Derived', content.derives)
  out.set('Groups', content.groups.map((g) => `${g.name}: ${g.question}${g.by_exception ? ' (by exception)' : ''}`).join('; '))
  out.set('Criteria', content.criteria.map((c) => c.name || c.key).join(', '))
  for (const c of content.criteria) criterionLines(out, c)
  return out
}

/** Fields that differ, in the order of the later version; what only the earlier has comes last. */
export function differences(before: Content, after: Content): Difference[] {
  const was = lines(before), is = lines(after)
  return [...new Set([...is.keys(), ...was.keys()])]
    .map((where) => ({ where, before: was.get(where) ?? '', after: is.get(where) ?? '' }))
    .filter((d) => d.before !== d.after)
}

/** Longer texts than this, in words, are shown whole, before and after. */
const MOST = 1500

/** Both texts as one, with the words that went and those that came: a longest common subsequence of words. */
export function words(before: string, after: string): Piece[] {
  const a = before.match(/\s+|[^\s]+/g) ?? [], b = after.match(/\s+|[^\s]+/g) ?? []
  if (a.length > MOST || b.length > MOST) return joined([{ text: before, kind: 'gone' }, { text: after, kind: 'new' }])
  const width = b.length + 1
  const common = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? common[(i + 1) * width + j + 1]! + 1 : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
    }
  }
  const out: Piece[] = []
  let i = 0, j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ text: a[i]!, kind: 'same' })
      i++
      j++
    } else if (i < a.length && (j === b.length || common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) out.push({ text: a[i++]!, kind: 'gone' })
    else out.push({ text: b[j++]!, kind: 'new' })
  }
  return joined(out)
}

function joined(pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = []
  for (const p of pieces) {
    const last = out.at(-1)
    if (!p.text) continue
    if (last?.kind === p.kind) last.text += p.text
    else out.push({ ...p })
  }
  return out
}
