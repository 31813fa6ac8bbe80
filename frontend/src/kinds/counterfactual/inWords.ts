import type { Value } from './words.ts'

/** Counterfactuals of a target in words: "4 texts, 1 not applicable". */
export function inWords(value: Value | null): string {
  const said = Object.values(value ?? {})
  const texts = said.filter((s) => s.text).length
  const none = said.length - texts
  return [texts ? `${texts} ${texts === 1 ? 'text' : 'texts'}` : '', none ? `${none} not applicable` : ''].filter(Boolean).join(', ')
}
