/** The configuration of a new version, made from what its backend declares. */

import type { Schemas } from '../api/client.ts'
import type { Parameter } from './parameters.ts'

export type Choices = Schemas['VersionChoices']
export type Backend = Schemas['Backend']
export type Level = Schemas['UnitLevelEnum']
type Section = Record<string, unknown>

export interface Draft {
  backend: string
  level: Level
  seed: number | null
  /** Section -> parameter -> value. */
  values: Record<string, Section>
}

/** A draft of a backend: what a configuration sets, and the defaults of all the rest. */
export function draftOf(backend: Backend, config: Readonly<Record<string, unknown>> = {}): Draft {
  const values: Draft['values'] = {}
  for (const section of backend.sections) {
    const set = (config[section.key] ?? {}) as Section
    values[section.key] = Object.fromEntries(section.parameters.map((p) => [p.name, p.name in set ? set[p.name] : p.default]))
  }
  return { backend: backend.key, level: (config.level as Level | undefined) ?? 'proposition', seed: (config.seed as number | undefined) ?? 0, values }
}

/** The parameters of a section that act as it is set; what hangs on one that does not act does not act either. */
export function acting(parameters: readonly Parameter[], section: Readonly<Section>): Parameter[] {
  const acts = (p: Parameter): boolean => {
    if (!p.when) return true
    const other = parameters.find((q) => q.name === p.when!.parameter)
    return p.when.values.includes(String(section[p.when.parameter])) && (!other || acts(other))
  }
  return parameters.filter(acts)
}

/** What is sent: an empty number is null, and what cannot act is left out. */
export function configOf(draft: Draft, backend: Backend): Record<string, unknown> {
  const sections = backend.sections.map((section) => {
    const values = draft.values[section.key] ?? {}
    const sent = acting(section.parameters, values).map((p) => [p.name, plain(p, values[p.name])])
    return [section.key, Object.fromEntries(sent)]
  })
  return { backend: draft.backend, level: draft.level, seed: draft.seed ?? 0, ...Object.fromEntries(sections) }
}

function plain(parameter: Parameter, value: unknown): unknown {
  if ((parameter.takes === 'integer' || parameter.takes === 'number') && (value === '' || value === undefined)) return null
  return value
}

export interface Difference {
  label: string
  before: string
  after: string
}

/** In what a draft differs from where it began. */
export function differences(start: Draft, now: Draft, backend: Backend): Difference[] {
  const out: Difference[] = []
  const say = (label: string, before: unknown, after: unknown) => {
    if (inWords(before) !== inWords(after)) out.push({ label, before: inWords(before), after: inWords(after) })
  }
  say('Level', start.level, now.level)
  say('Seed', start.seed, now.seed)
  for (const section of backend.sections) {
    const [old, fresh] = [start.values[section.key] ?? {}, now.values[section.key] ?? {}]
    const before = acting(section.parameters, old)
    for (const p of acting(section.parameters, fresh)) say(p.label, before.includes(p) ? old[p.name] : p.default, fresh[p.name])
  }
  return out
}

/** What is wrong, said with the name of its field, where the form as it stands has no such field to say it. */
export function unplaced(wrong: Readonly<Record<string, string>>, backend: Backend | null, draft: Draft | null): string[] {
  const sections = backend && draft ? backend.sections : []
  const places = sections.flatMap((s) => acting(s.parameters, draft!.values[s.key] ?? {}).map((p) => `${s.key}.${p.name}`))
  const there = new Set(draft ? ['name', 'description', 'level', 'seed', 'note', ...places] : [])
  return Object.entries(wrong).filter(([field]) => !there.has(field)).map(([field, message]) => `${field}: ${message}`)
}

/** A value as people read it. */
export function inWords(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'not set'
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  const text = String(value)
  return text.trim() ? text : text.replaceAll('\n', '↵').replaceAll(' ', '␣')
}

/** Something that a new version can begin as. */
export interface Start {
  key: string
  group: string
  title: string
  says: string
  backend: string
  config: Readonly<Record<string, unknown>>
  /** Suggested for the system and for the version. */
  name: string
  note: string
}

/** The version before, where there is one; then the papers' systems; then every backend as it comes. */
export function startsOf({ backends, presets }: Choices, earlier: Schemas['Version'] | null): Start[] {
  const known = (key: string) => backends.some((b) => b.key === key)
  const like = earlier && known(earlier.backend) ? [earlier] : []
  return [
    ...like.map((v) => ({
      key: `version-${v.id}`, group: 'An earlier version', title: `Version ${v.number}`, says: v.note, backend: v.backend, config: v.config,
      name: v.system_name, note: `Version ${v.number}, changed`,
    })),
    ...presets.filter((p) => known(p.backend)).map((p) => ({
      key: `preset-${p.key}`, group: p.paper, title: p.name, says: p.says, backend: p.backend, config: p.config, name: p.name,
      note: `Preset ${p.name}`,
    })),
    ...backends.map((b) => ({
      key: `backend-${b.key}`, group: 'From scratch', title: b.name, says: b.description, backend: b.key, config: {}, name: '', note: '',
    })),
  ]
}
