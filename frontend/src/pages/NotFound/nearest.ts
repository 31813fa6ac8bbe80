/** Suggestions for an address that does not exist. */

/** Levenshtein distance of two words. */
export function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    row = next
  }
  return row[b.length]!
}

/** The pages whose path or name is most similar to a part of the address, closest first. */
export function similarPages<T extends { href: string; name: string }>(address: string, pages: readonly T[], most = 3): T[] {
  const parts = address.toLowerCase().split(/[/?#]+/).filter(Boolean).slice(2)
  const far = (page: T) =>
    Math.min(
      ...parts.flatMap((part) =>
        [page.href.split('/').at(-1)!, page.name.toLowerCase().replaceAll(' ', '-')].map((word) =>
          word.startsWith(part) || part.startsWith(word) ? 0 : distance(part, word) / Math.max(part.length, word.length),
        ),
      ),
    )
  return pages
    .map((page) => ({ page, far: far(page) }))
    .filter((p) => p.far < 0.5)
    .toSorted((a, b) => a.far - b.far)
    .slice(0, most)
    .map((p) => p.page)
}
