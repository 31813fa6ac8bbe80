/** Values and labels of declared parameters. */

import type { Schemas } from '../../api/client.ts'
import { count } from '../format.ts'

export type Parameter = Schemas['Parameter']
export type Values = Record<string, unknown>

/** The choices of a parameter with their labels. */
export function choicesOf(parameter: Parameter): [string, string][] {
  return parameter.choices.map((choice, n) => [choice, parameter.words[n] ?? choice])
}

/** Values of the declared parameters, with defaults; others are left out. */
export function valuesOf(declared: readonly Parameter[], set: Readonly<Values>): Values {
  return Object.fromEntries(declared.map((p) => [p.name, set[p.name] ?? p.default]))
}

/** Whether the parameter has a value. */
export function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== ''
}

/** "From 1 to 100.", "At least 8."; empty without bounds. */
export function bounds({ minimum, maximum }: Pick<Parameter, 'minimum' | 'maximum'>): string {
  const inWords = (n: number | null) => (n !== null && Number.isInteger(n) ? count(n) : n)
  if (minimum !== null && maximum !== null) return `From ${inWords(minimum)} to ${inWords(maximum)}.`
  return minimum !== null ? `At least ${inWords(minimum)}.` : maximum !== null ? `At most ${inWords(maximum)}.` : ''
}
