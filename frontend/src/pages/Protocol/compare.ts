/** Differences of two versions of a protocol, by field. */

import type { Content, Criterion, Option } from './draft.ts'

export interface Difference {
  /** The field in words: "Coherence, point 3, anchor". */
  where: string
  before: string
  after: string
}

const flag = (value: boolean) => (value ? 'yes' : 'no')

function optionLines(out: Map<string, string>, where: string, options: readonly Option[]): void {
  for (const o of options) {
    out.set(`${where}, ${o.value}, label`, o.label)
    out.set(`${where}, ${o.value}, anchor`, o.anchor)
    if (o.means) out.set(`${where}, ${o.value}, means`, o.means)
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
  out.set(`${at}, frame`, [c.frame, c.beside].filter(Boolean).join(', shown beside the question: '))
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

/** Fields that differ, in the order of the later version; removed fields come last. */
export function differences(before: Content, after: Content): Difference[] {
  const was = lines(before), is = lines(after)
  return [...new Set([...is.keys(), ...was.keys()])]
    .map((where) => ({ where, before: was.get(where) ?? '', after: is.get(where) ?? '' }))
    .filter((d) => d.before !== d.after)
}
