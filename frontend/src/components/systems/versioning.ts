/** Draft and configuration of a new version, from the parameters of its backend. */

import type { Schemas } from '../../api/client.ts'
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

/** A draft for a backend: the values of a configuration, else defaults. */
export function draftOf(backend: Backend, config: Readonly<Record<string, unknown>> = {}): Draft {
  const values: Draft['values'] = {}
  for (const section of backend.sections) {
    const set = (config[section.key] ?? {}) as Section
    values[section.key] = Object.fromEntries(section.parameters.map((p) => [p.name, p.name in set ? set[p.name] : p.default]))
  }
  return { backend: backend.key, level: (config.level as Level | undefined) ?? 'proposition', seed: (config.seed as number | undefined) ?? 0, values }
}

/** The active parameters of a section; a parameter that depends on an inactive one is inactive. */
export function acting(parameters: readonly Parameter[], section: Readonly<Section>): Parameter[] {
  const acts = (p: Parameter): boolean => {
    if (!p.when) return true
    const other = parameters.find((q) => q.name === p.when!.parameter)
    return p.when.values.includes(String(section[p.when.parameter])) && (!other || acts(other))
  }
  return parameters.filter(acts)
}

/** The configuration to send: empty numbers as null, without inactive parameters. */
export function configOf(draft: Draft, backend: Backend): Record<string, unknown> {
  const sections = backend.sections.map((section) => {
    const values = draft.values[section.key] ?? {}
    const effective = acting(section.parameters, values).map((p) => [p.name, plain(p, values[p.name])])
    return [section.key, Object.fromEntries(effective)]
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

/** Differences of a draft from its starting point. */
export function differences(start: Draft, now: Draft, backend: Backend): Difference[] {
  const out: Difference[] = []
  const addDifference = (label: string, before: unknown, after: unknown) => {
    if (inWords(before) !== inWords(after)) out.push({ label, before: inWords(before), after: inWords(after) })
  }
  addDifference('Level', start.level, now.level)
  addDifference('Seed', start.seed, now.seed)
  for (const section of backend.sections) {
    const [old, fresh] = [start.values[section.key] ?? {}, now.values[section.key] ?? {}]
    const before = acting(section.parameters, old)
    for (const p of acting(section.parameters, fresh)) addDifference(p.label, before.includes(p) ? old[p.name] : p.default, fresh[p.name])
  }
  return out
}

/** Messages about fields that the form does not show, each with the field's name. */
export function unplaced(wrong: Readonly<Record<string, string>>, backend: Backend | null, draft: Draft | null): string[] {
  const sections = backend && draft ? backend.sections : []
  const places = sections.flatMap((s) => acting(s.parameters, draft!.values[s.key] ?? {}).map((p) => `${s.key}.${p.name}`))
  const fields = new Set(draft ? ['name', 'description', 'level', 'seed', 'note', ...places] : [])
  return Object.entries(wrong).filter(([field]) => !fields.has(field)).map(([field, message]) => `${field}: ${message}`)
}

/** A value in words. */
export function inWords(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'not set'
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  const text = String(value)
  return text.trim() ? text : text.replaceAll('\n', '↵').replaceAll(' ', '␣')
}

/** A starting point for a new version. */
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

/** Starting points: the previous version, then presets, then the defaults of each backend. */
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
