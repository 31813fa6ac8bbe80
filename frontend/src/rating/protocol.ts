/** A rating protocol as part of a card, and its criteria in words. */

import type { Schemas } from '../api/client.ts'

export type Option = Schemas['ProtocolOption']
export type Scale = Pick<Schemas['ProtocolScale'], 'type' | 'options'> & Partial<Schemas['ProtocolScale']>
export type Example = Schemas['ProtocolExample']
export type Group = Schemas['ProtocolGroup']
export type When = Schemas['ProtocolCondition']
export type Criterion = Omit<Schemas['ProtocolCriterion'], 'better' | 'scale'> & { scale: Scale }
/** The part of a protocol that rating pages use. */
export type Protocol = Pick<Schemas['ProtocolContent'], 'title' | 'instructions' | 'show' | 'hints' | 'groups'> & { criteria: Criterion[] }
export type Source = Schemas['SourceShown']
export type Target = Schemas['TargetShown']
/** Common fields of rating and comparison pages. */
export type Page = Pick<Schemas['RateCard'], 'source' | 'target' | 'texts'> & { protocol: Protocol }

/** "Consistent: every statement follows", or the anchor alone if the label is a number. */
export function inWords(option: Option): string {
  const label = /^\d*$/.test(option.label) ? '' : option.label
  return [label, option.anchor === label ? '' : option.anchor].filter(Boolean).join(': ') || option.label || option.value
}

/** The label alone, for narrow places. */
export function short(option: Option): string {
  return option.label || option.value
}

/** The target's current value shown beside a criterion; null if none is shown, '' for a blank element. */
export function beside(criterion: Criterion, target: Target | null): string | null {
  if (!target || !criterion.beside) return null
  if (criterion.beside === 'text' || criterion.beside === 'polarity' || criterion.beside === 'modality') return target[criterion.beside] || null
  const found = target.slots.find((s) => s.slot[0] === criterion.beside[0])
  if (!found || found.form === 'blank') return ''
  return found.form === 'implied' && !found.text.startsWith('[') ? `[${found.text}]` : found.text
}

/** A question: one criterion, or a group answered by exception. */
export interface Item {
  readonly key: string
  readonly name: string
  readonly question: string
  readonly criteria: readonly Criterion[]
  readonly group: Group | null
}

/** The questions of a protocol, in order. A group by exception is at the position of its first criterion. */
export function items(protocol: Protocol): Item[] {
  const out: Item[] = []
  for (const criterion of protocol.criteria) {
    const group = protocol.groups.find((g) => g.key === criterion.group && g.by_exception) ?? null
    const groupIndex = group && out.findIndex((i) => i.group === group)
    if (group && groupIndex !== null && groupIndex >= 0) out[groupIndex] = { ...out[groupIndex]!, criteria: [...out[groupIndex]!.criteria, criterion] }
    else if (group) out.push({ key: group.key, name: group.name, question: group.question, criteria: [criterion], group })
    else out.push({ key: criterion.key, name: criterion.name, question: criterion.question, criteria: [criterion], group: null })
  }
  return out
}

/** Layout of a criterion's options: one per row, side by side, or side by side in half of the width. */
export function layout(criterion: Criterion): 'rows' | 'side' | 'half' {
  const { type, options } = criterion.scale
  if (type === 'spans') return 'side'
  if (type !== 'categorical') return 'rows'
  const { length } = options
  const longest = Math.max(...options.map((o) => inWords(o).length))
  if (length <= 2 && longest <= 20) return 'half'
  return length === 2 && longest <= 76 || length <= 4 && longest <= 120 / length ? 'side' : 'rows'
}

/** Subject of a page in one line. */
export function inShort(page: Page): string {
  return page.source.query || page.source.title || page.target?.text || page.texts[0]?.text || ''
}
