/**
 * Words and sentences of written texts: the rule of `measures/written.py` with that of `measures/sentences.py`, for
 * counts while a person types. `tests/measures/written.json` has cases for both.
 */

// The white space of Python, so that both sides count the same.
const S = String.raw`[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]`
const SPACE = new RegExp(S, 'u')
const words = (listed: string): Set<string> => new Set(listed.split(' '))

const NEVER = words('e.g eg i.e ie vs v.s cf fig figs eq eqs eqn ref refs tab dr drs prof mr mrs ms messrs st approx ca viz resp suppl supp vol pp ed eds dept nos var subsp ssp f.sp resp. incl excl esp')
const SELDOM = words('al etc inc ltd co corp sp spp min max mins hr hrs wk wks mo mos yr yrs sec avg std dev univ jan feb mar apr jun jul aug sep sept oct nov dec int')
const OPENERS = words(
  'a additionally after all also although among an and as at background based because before besides between both but by compared conclusion conclusions consequently conversely data design despite due during each either evidence finally findings five for four from further furthermore future given hence here high however if importantly in interestingly interpretation interventions it its low main many measurements meta-analysis meta-analyses methods more moreover most much neither nevertheless no none nonetheless nor objective objectives of on one only or other our outcome outcomes overall participants patients publication purpose randomized recent results seven several similarly since six so some studies study subjects such ten that the their there therefore these they this those though three thus to treatment twelve two under unlike until using we what when whereas whether which while with within women men children',
)
const LETTERED = words('vitamin vitamins hepatitis group groups type types grade stage class arm arms phase category influenza factor cohort panel table figure part step protein immunoglobulin score site level condition')

const LINE = /[^\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]+/gu
const STOP = new RegExp(
  String.raw`(?:(?<![.?!\u2026])[.?!\u2026]+|(?<=[a-z)\]])\.\p{Nd}{1,3}(?:[,\u2013-]\p{Nd}{1,3})*)` +
    String.raw`["'\u2019\u201d\u00bb)\]}]*(?:${S}?\[\p{Nd}{1,3}(?:${S}?[,;\u2013\-]${S}?\p{Nd}{1,3})*\])*(?:${S}?</[a-z]{1,12}>)*(?=${S})`,
  'gu',
)
const DOTTED = /^(?:[A-Za-z]{1,2}\.)+[A-Za-z]{1,2}$/u
const LIST_NUMBER = /^[([]?(?:\p{Nd}{1,2}|[ivx]{1,4}|[A-Za-z])$/u
const NEXT = new RegExp(String.raw`(?:${S}*</?[a-z]{1,12}>)*${S}*["'\u2018\u201c\u00ab([{]*([\p{L}\p{N}_'\-]*|[^])`, 'uy')
const PAIRS: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }

const BULLET = String.raw`[\-*\u2022]${S}+(?!${S})[^]`
const FIRST_ITEM = new RegExp(String.raw`(?:^|(?<=${S}${S})|(?<=[.:;?!)]${S}))(?=${BULLET})`, 'mu')
const NEXT_ITEM = new RegExp(String.raw`(?:^|(?<=${S}${S})|(?<=[.:;?!)]${S})|(?<=${S})(?=.${S}+[A-Z]))(?=${BULLET})`, 'gmu')
const BREAK = new RegExp(String.raw`(?<=${S}${S}${S})(?!${S})(?=[^])`, 'gu')

/** Number of runs of characters without white space that contain a letter or a digit. */
export function wordCount(text: string): number {
  let n = 0
  for (const run of text.split(SPACE)) if (/[\p{L}\p{N}]/u.test(run)) n++
  return n
}

/** Number of sentences; each list item begins one. */
export function sentenceCount(text: string): number {
  const cuts = new Set([0, ...items(text), ...[...text.matchAll(BREAK)].map((hit) => hit.index), text.length])
  const sorted = [...cuts].sort((a, b) => a - b)
  let n = 0
  for (let i = 0; i + 1 < sorted.length; i++) n += sentencesOf(text.slice(sorted[i], sorted[i + 1]))
  return n
}

export const count = (text: string, unit: 'words' | 'sentences'): number => (unit === 'words' ? wordCount(text) : sentenceCount(text))

function items(text: string): number[] {
  const first = FIRST_ITEM.exec(text)
  if (!first) return []
  return [first.index, ...[...text.matchAll(NEXT_ITEM)].map((hit) => hit.index).filter((at) => at > first.index)]
}

function sentencesOf(text: string): number {
  let n = 0
  for (const [line] of text.matchAll(LINE)) {
    let begin = 0
    for (const end of [...ends(line), line.length]) {
      if (!isBlank(line.slice(begin, end))) n++
      begin = end
    }
  }
  return n
}

const isBlank = (text: string): boolean => [...text].every((c) => SPACE.test(c))

/** The ends of all sentences of a line except the last. */
function ends(line: string): number[] {
  const brackets = bracketed(line)
  const found: number[] = []
  let begin = 0
  for (const hit of line.matchAll(STOP)) {
    const end = hit.index + hit[0].length
    const around = brackets.findLast(([low]) => low < hit.index)
    if (around && end <= around[1]) continue
    if (isEnd(line, begin, hit[0], hit.index, end)) {
      found.push(end)
      begin = end
    }
  }
  return found
}

function isEnd(line: string, begin: number, stop: string, start: number, end: number): boolean {
  NEXT.lastIndex = end
  const word = NEXT.exec(line)?.[1] ?? ''
  if (!word || !canBegin(word)) return false
  if (!stop.startsWith('.') || stop.startsWith('..')) return true
  const before = line.slice(begin, start)
  const token = lastWord(before)
  const bare = token.replace(/^[([{"'\u2018\u201c]+/u, '')
  if (!token) return !isBlank(before)
  if (trimmed(before) === token && LIST_NUMBER.test(token)) return false
  const opens = OPENERS.has(word.toLowerCase()) && /^\p{Lu}/u.test(word)
  const low = bare.toLowerCase()
  const digitFollows = /^\p{Nd}/u.test(word)
  if (NEVER.has(low)) return false
  if (['0', 'no', 'p', 'n'].includes(low) && digitFollows) return false
  if (SELDOM.has(low) || DOTTED.test(bare)) return opens
  if (/^\p{Lu}$/u.test(bare)) return opens || namesALetter(split(before.slice(0, before.length - token.length)).slice(-2))
  return true
}

function namesALetter(before: readonly string[]): boolean {
  const last = before.at(-1)?.toLowerCase()
  if (!last) return false
  if (last === 'and' || last === 'or') return before.length > 1 && /^\p{Lu}$/u.test(before[0]!)
  return LETTERED.has(last)
}

/** Plain lower-case words cannot begin a sentence; "mTOR", "pH" and "p53" can. */
const canBegin = (word: string): boolean => !/^[a-z]/.test(word) || /[\p{Lu}\p{Nd}]/u.test(word)

const split = (text: string): string[] => text.split(SPACE).filter(Boolean)
const trimmed = (text: string): string => text.replace(new RegExp(`^${S}+|${S}+$`, 'gu'), '')
const lastWord = (before: string): string => (before && !SPACE.test(before.at(-1)!) ? split(before).at(-1)! : '')

/** The outermost ranges between matching brackets. */
function bracketed(line: string): [number, number][] {
  const spans: [number, number][] = []
  const open: number[] = []
  for (let i = 0; i < line.length; i++) {
    const c = line[i]!
    if ('([{'.includes(c)) open.push(i)
    else if (PAIRS[c])
      for (let depth = open.length - 1; depth > Math.max(-1, open.length - 9); depth--) {
        if (line[open[depth]!] !== PAIRS[c]) continue
        spans.push([open[depth]!, i])
        open.length = depth
        break
      }
  }
  const outer: [number, number][] = []
  for (const span of spans.sort((a, b) => a[0] - b[0] || a[1] - b[1])) if (!outer.length || span[0] > outer.at(-1)![1]) outer.push(span)
  return outer
}
