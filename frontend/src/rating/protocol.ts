/** A rating protocol as a card brings it, and what its criteria ask for in words. */

export type ScaleType = 'likert' | 'categorical' | 'multi-label' | 'slider' | 'spans' | 'text' | 'preference'
export interface Option {
  readonly value: string
  readonly label: string
  readonly anchor: string
}
export interface Scale {
  readonly type: ScaleType
  readonly options: readonly Option[]
  readonly minimum?: number | null
  readonly maximum?: number | null
  readonly step?: number | null
  readonly severities?: readonly Option[]
  /** Asked of each marked span. */
  readonly reason?: 'none' | 'offered' | 'required'
}
export interface When {
  readonly criterion: string
  readonly values: readonly string[]
}
/** What an earlier answer suggests; `target`: only where what stands beside the question is one of these. */
export interface Prefill {
  readonly if: When
  readonly target?: readonly string[]
  readonly value: string | null
  readonly na: boolean
}
export interface Passage {
  readonly in: 'source' | 'summary'
  /** Code points, half-open. */
  readonly start: number
  readonly end: number
}
export interface Example {
  readonly good: boolean
  readonly query: string
  readonly source: string
  readonly summary: string
  readonly value: string
  readonly explanation: string
  readonly marks: readonly Passage[]
}
export type Beside = '' | 'text' | 'population' | 'intervention' | 'comparator' | 'outcome' | 'polarity' | 'modality'
export interface Criterion {
  readonly key: string
  readonly name: string
  readonly standard: string
  readonly group: string
  readonly question: string
  readonly more: string
  readonly frame: 'alone' | 'source' | 'target' | 'query'
  readonly beside: Beside
  readonly scale: Scale
  readonly na: boolean
  readonly na_label: string
  readonly required: boolean
  readonly reason: { readonly ask: 'none' | 'offered'; readonly required_at: readonly string[] }
  readonly shown_if: When | null
  readonly prefill: readonly Prefill[]
  readonly examples: readonly Example[]
}
export interface Group {
  readonly key: string
  readonly name: string
  readonly question: string
  readonly by_exception: boolean
}
export interface Protocol {
  readonly title: string
  readonly instructions: string
  readonly show: { readonly query: boolean; readonly source: boolean; readonly target: 'none' | 'text' | 'tuple' | 'gold' }
  readonly hints: boolean
  readonly groups: readonly Group[]
  readonly criteria: readonly Criterion[]
}

export interface Source {
  readonly query: string
  readonly title: string
  readonly studies: readonly { readonly title: string; readonly text: string }[]
}
export interface Target {
  readonly text: string
  readonly slots: readonly { readonly slot: string; readonly text: string; readonly form: string }[]
  readonly polarity: string
  readonly modality: string
}
export interface Text {
  readonly key: string
  readonly text: string
}
/** What the pages of both kinds bring. */
export interface Page {
  readonly protocol: Protocol
  readonly source: Source
  readonly target: Target | null
  readonly texts: readonly Text[]
}

/** "Consistent: every statement follows", or the anchor alone where the label is only its number. */
export function inWords(option: Option): string {
  const label = /^\d*$/.test(option.label) ? '' : option.label
  return [label, option.anchor === label ? '' : option.anchor].filter(Boolean).join(': ') || option.label || option.value
}

/** The label alone, for where there is little room. */
export function short(option: Option): string {
  return option.label || option.value
}

/** What stands in force of the target beside a criterion; null where nothing is shown there, '' for a blank slot. */
export function beside(criterion: Criterion, target: Target | null): string | null {
  if (!target || !criterion.beside) return null
  if (criterion.beside === 'text' || criterion.beside === 'polarity' || criterion.beside === 'modality') return target[criterion.beside] || null
  const found = target.slots.find((s) => s.slot[0] === criterion.beside[0])
  if (!found || found.form === 'blank') return ''
  return found.form === 'implied' && !found.text.startsWith('[') ? `[${found.text}]` : found.text
}

/** What is asked at once: one criterion, or a group that is answered by its exceptions. */
export interface Item {
  readonly key: string
  readonly name: string
  readonly question: string
  readonly criteria: readonly Criterion[]
  readonly group: Group | null
}

/** What a protocol asks, in order. A group by exception stands where its first criterion does. */
export function items(protocol: Protocol): Item[] {
  const out: Item[] = []
  for (const criterion of protocol.criteria) {
    const group = protocol.groups.find((g) => g.key === criterion.group && g.by_exception) ?? null
    const there = group && out.findIndex((i) => i.group === group)
    if (group && there !== null && there >= 0) out[there] = { ...out[there]!, criteria: [...out[there]!.criteria, criterion] }
    else if (group) out.push({ key: group.key, name: group.name, question: group.question, criteria: [criterion], group })
    else out.push({ key: criterion.key, name: criterion.name, question: criterion.question, criteria: [criterion], group: null })
  }
  return out
}

/** How the options of a criterion are laid out: one to a row, side by side, or side by side in half of the width. */
export function layout(criterion: Criterion): 'rows' | 'side' | 'half' {
  const { type, options } = criterion.scale
  if (type === 'spans') return 'side'
  if (type !== 'categorical') return 'rows'
  const { length } = options
  const longest = Math.max(...options.map((o) => inWords(o).length))
  if (length <= 2 && longest <= 20) return 'half'
  return length === 2 && longest <= 76 || length <= 4 && longest <= 120 / length ? 'side' : 'rows'
}

/** What a page is about, in one line. */
export function inShort(page: Page): string {
  return page.source.query || page.source.title || page.target?.text || page.texts[0]?.text || ''
}
