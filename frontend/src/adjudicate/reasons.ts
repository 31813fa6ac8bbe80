/** Reasons that are offered again, each on a key that it keeps. The keys are none that a kind's editor has. */

export const REASON_KEYS = ['q', 'e', 'r', 't', 'y', 'u'] as const

/** The reasons of earlier visits, in the order of the keys. */
export function offered(given: readonly string[]): readonly string[] {
  return given.slice(0, REASON_KEYS.length)
}

/** The list with a reason that was typed: on the next free key, else on the one that was not used for the longest time. */
export function withReason(list: readonly string[], reason: string, used: readonly string[]): readonly string[] {
  if (list.includes(reason)) return list
  if (list.length < REASON_KEYS.length) return [...list, reason]
  const idle = [...list].sort((a, b) => used.lastIndexOf(a) - used.lastIndexOf(b))[0]!
  return list.map((r) => (r === idle ? reason : r))
}

/** "Q E R, or B to write one." */
export function keysInWords(list: readonly string[]): string {
  const keys = REASON_KEYS.slice(0, list.length).map((k) => k.toUpperCase()).join(' ')
  return keys ? `${keys}, or B to write one.` : 'B to write one.'
}
