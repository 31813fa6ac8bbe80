/** Recent pace of a running import, from its replies to the page. */

export interface Sample { at: number; phase: string; rows: number; bytes: number }

/** Milliseconds over which the pace is measured. */
const WINDOW = 60_000

/** The samples of the last minute in the current phase, with the next one. A worker that continues may start lower. */
export function withSample(samples: readonly Sample[], next: Sample): Sample[] {
  return [...samples.filter((s) => s.phase === next.phase && s.bytes <= next.bytes && s.at > next.at - WINDOW), next]
}

/** Rows per second, and seconds left until all bytes are read; null while unknown. */
export function pace(samples: readonly Sample[], size: number): { rate: number; left: number } | null {
  const [first, last] = [samples[0], samples.at(-1)]
  if (!first || !last || last.bytes <= first.bytes) return null
  const seconds = (last.at - first.at) / 1000
  return { rate: (last.rows - first.rows) / seconds, left: ((size - last.bytes) * seconds) / (last.bytes - first.bytes) }
}
