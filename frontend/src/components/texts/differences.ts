/** Differences of two texts: a merged text with removed and added words. */

export interface Piece {
  text: string
  kind: 'same' | 'gone' | 'new'
}

/** Maximum table size for a comparison by words; larger texts are compared by lines first. */
const MOST = 2_000_000

/** Compare by words; long texts by lines first, then by the words of differing lines. */
export function differences(before: string, after: string): Piece[] {
  const a = wordsOf(before), b = wordsOf(after)
  if (a.length * b.length <= MOST) return joined(common(a, b))
  const lines = joined(common(linesOf(before), linesOf(after)))
  return joined(lines.flatMap((piece, n) => {
    const next = lines[n + 1]
    if (piece.kind === 'gone' && next?.kind === 'new') return within(piece.text, next.text)
    return piece.kind === 'new' && lines[n - 1]?.kind === 'gone' ? [] : [piece]
  }))
}

function within(before: string, after: string): Piece[] {
  const a = wordsOf(before), b = wordsOf(after)
  return a.length * b.length <= MOST ? common(a, b) : [{ text: before, kind: 'gone' }, { text: after, kind: 'new' }]
}

const wordsOf = (text: string) => text.match(/\s+|[^\s]+/g) ?? []
const linesOf = (text: string) => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

/** Longest common subsequence and differences, after the common beginning and end are set aside. */
function common(a: readonly string[], b: readonly string[]): Piece[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const same = (parts: readonly string[]): Piece[] => parts.map((text) => ({ text, kind: 'same' }))
  const middle = subsequence(a.slice(start, a.length - end), b.slice(start, b.length - end))
  return [...same(a.slice(0, start)), ...middle, ...same(a.slice(a.length - end))]
}

function subsequence(a: readonly string[], b: readonly string[]): Piece[] {
  const width = b.length + 1
  const length = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i * width + j] = a[i] === b[j] ? length[(i + 1) * width + j + 1]! + 1 : Math.max(length[(i + 1) * width + j]!, length[i * width + j + 1]!)
    }
  }
  const out: Piece[] = []
  let i = 0, j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ text: a[i]!, kind: 'same' })
      i++
      j++
    } else if (i < a.length && (j === b.length || length[(i + 1) * width + j]! >= length[i * width + j + 1]!)) out.push({ text: a[i++]!, kind: 'gone' })
    else out.push({ text: b[j++]!, kind: 'new' })
  }
  return out
}

/**
 * Merge neighbouring pieces of one kind. A space between two changed words joins them, so that consecutive changed words
 * read as one change.
 */
function joined(pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = []
  let gone = '', came = ''
  const close = () => {
    if (gone) out.push({ text: gone, kind: 'gone' })
    if (came) out.push({ text: came, kind: 'new' })
    gone = came = ''
  }
  pieces.forEach((p, n) => {
    if (p.kind === 'gone') gone += p.text
    else if (p.kind === 'new') came += p.text
    else if (gone && came && p.text === ' ' && pieces[n + 1] && pieces[n + 1]!.kind !== 'same') {
      gone += p.text
      came += p.text
    } else {
      close()
      const last = out.at(-1)
      if (last?.kind === 'same') last.text += p.text
      else out.push({ ...p })
    }
  })
  close()
  return out
}
