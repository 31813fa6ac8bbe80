/** What is declared as configurable: its values, and how they read. */

import type { Schemas } from '../api/client.ts'
import { count } from './format.ts'

export type Parameter = Schemas['Parameter']
export type Values = Record<string, unknown>

/** The choices of a parameter with how they read. */
export function choicesOf(parameter: Parameter): [string, string][] {
  return parameter.choices.map((choice, n) => [choice, parameter.words[n] ?? choice])
}

/** What is set of these, defaults filled in; what belongs to others is left out. */
export function valuesOf(declared: readonly Parameter[], set: Readonly<Values>): Values {
  return Object.fromEntries(declared.map((p) => [p.name, set[p.name] ?? p.default]))
}

/** Whether something was said at all. */
export function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== ''
}

/** "From 1 to 100.", "At least 8."; empty where there are no bounds. */
export function bounds({ minimum, maximum }: Pick<Parameter, 'minimum' | 'maximum'>): string {
  const say = (n: number | null) => (n !== null && Number.isInteger(n) ? count(n) : n)
  if (minimum !== null && maximum !== null) return `From ${say(minimum)} to ${say(maximum)}.`
  return minimum !== null ? `At least ${say(minimum)}.` : maximum !== null ? `At most ${say(maximum)}.` : ''
}
