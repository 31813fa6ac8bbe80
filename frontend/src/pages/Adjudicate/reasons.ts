/** Keys of earlier reasons; a reason keeps its key. No kind's editor uses these keys. */

export const REASON_KEYS = ['q', 'e', 'r', 't', 'y', 'u'] as const

/** Reasons of earlier visits that fit on the keys. */
export function offered(given: readonly string[]): readonly string[] {
  return given.slice(0, REASON_KEYS.length)
}

/** Add a typed reason on the next free key, else on the least recently used one. */
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
