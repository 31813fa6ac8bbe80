/** How many actions real tuples take: those of M3's level 3, which lies beside the project where it is there at all. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ElementKey } from '../../pico/elements.ts'
import type { Range } from '../../text/offsets.ts'
import { formOf, locateWords, type Form } from '../../pico/form.ts'
import { begin, facts, reduce, type Action, type Facts, type State } from './state.ts'

const FILE = join(import.meta.dirname, '../../../../../shared/data/m3/level3.jsonl')
const FIRST: readonly ElementKey[] = ['i', 'o', 'c', 'p']
const plain = (text = '') => text.replace(/\s+/g, ' ').trim().toLowerCase()

interface Sentence {
  text: string
  tuples: Record<ElementKey, string>[]
}

function sentences(): Sentence[] {
  const found = new Map<string, Sentence>()
  for (const line of readFileSync(FILE, 'utf8').split('\n').filter(Boolean)) {
    const record = JSON.parse(line) as { docid: string; target_text: string; pico: Record<ElementKey, string> }
    const key = `${record.docid.split('_')[0]!} ${record.target_text}`
    const sentence = found.get(key) ?? { text: record.target_text, tuples: [] }
    sentence.tuples.push(record.pico)
    found.set(key, sentence)
  }
  return [...found.values()]
}

/** An element as at most three runs of words of the text in order, or null where it has to be typed. */
function runsOf(text: string, said: string): Range[] | null {
  if (/(^|\s)\[[^\]]*\](?=\s|$|,)/.test(said)) return null
  const words = plain(said).split(' ')
  const out: Range[] = []
  for (let i = 0; i < words.length;) {
    let end = words.length
    let at: Range | null = null
    const from = out.at(-1)?.end ?? 0
    for (; end > i; end--) {
      at = locateWords(text.slice(from), words.slice(i, end).join(' '))
      if (at) break
    }
    if (!at) return null
    out.push({ start: from + at.start, end: from + at.end })
    i = end
  }
  return out.length <= 3 ? out : null
}

/** What a person does, as the editor takes it: a selection, a key and one typed text are one action each. */
class Annotator {
  state: State
  actions = 0
  constructor(readonly f: Facts) {
    this.state = begin({ text: f.text, value: null, current: null })
  }
  do(action: Action) {
    this.actions++
    this.state = reduce(this.f, this.state, action)
  }
  drag(range: Range, keepEarlier: boolean) {
    const words = this.f.words
    const whole = words.some((w) => w.start === range.start) && words.some((w) => w.end === range.end)
    this.do({ do: 'drag', range, characters: !whole, keepEarlier })
  }
  fill(element: ElementKey, said: string) {
    const runs = runsOf(this.f.text, said)
    if (runs) {
      this.drag(runs[0]!, false)
      // It went into the element that waited: its own key moves it.
      if (this.state.last !== element || !this.state.filled) this.do({ do: 'element', element, add: false })
      for (const more of runs.slice(1)) this.drag(more, true)
    } else {
      this.do({ do: 'element', element, add: false })
      if (this.state.field !== element) throw new Error('A selection was in the way.')
      this.actions++ // the typing
      this.do({ do: 'type', text: said })
    }
    const got = this.state.rows[this.state.active]![element]
    if (plain(got?.text) !== plain(said)) this.do({ do: 'flip' })
  }
}

interface Counted {
  actions: number
  text: string
  newOutcomeOnly: boolean
  tuple: Record<ElementKey, string>
  right: boolean
}

function count({ text, tuples }: Sentence): Counted[] {
  const annotator = new Annotator(facts(text))
  return tuples.map((tuple, n) => {
    const from = annotator.actions
    if (n) annotator.do({ do: 'again' })
    const row = () => annotator.state.rows[annotator.state.active]!
    const wanted = n ? (['o', 'i', 'c', 'p'] as const) : FIRST
    for (const element of wanted) {
      if (!tuple[element].trim() && row()[element]) annotator.do({ do: 'blank', element })
    }
    const fill = wanted.filter((element) => tuple[element].trim() && plain(row()[element]?.text) !== plain(tuple[element]))
    // Those that are typed come first: after a selection an element's key would move it.
    for (const element of [...fill].sort((a, b) => Number(!!runsOf(text, tuple[a])) - Number(!!runsOf(text, tuple[b])))) annotator.fill(element, tuple[element])
    const right = FIRST.every((element) => plain(row()[element]?.text) === plain(tuple[element]))
    if (n === tuples.length - 1) {
      annotator.do({ do: 'next' })
      if (!annotator.state.complete) annotator.do({ do: 'next' })
    }
    const before = tuples[n - 1]
    const newOutcomeOnly = !!before && before.o !== tuple.o && FIRST.every((element) => element === 'o' || plain(before[element]) === plain(tuple[element]))
    return { actions: annotator.actions - from, text, newOutcomeOnly, tuple, right }
  })
}

const median = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1]!

describe.skipIf(!existsSync(FILE))('tuples of level 3', () => {
  const all = existsSync(FILE) ? sentences() : []
  const counted = all.flatMap(count)
  // Sentences from all of the file: blank, implied and reworded elements are among theirs.
  const fifty = all.filter((_, n) => n % 6 === 0).flatMap(count).slice(0, 50)
  const has = (wanted: Form) => fifty.some(({ text, tuple }) => FIRST.some((element) => formOf(tuple[element], text).form === wanted))

  it('take six actions at the most in the median of fifty, of all forms', () => {
    expect(fifty).toHaveLength(50)
    expect((['explicit', 'blank', 'implied', 'partly implied', 'reworded'] as const).map(has)).toEqual([true, true, true, true, true])
    expect(median(fifty.map((c) => c.actions))).toBeLessThanOrEqual(6)
    expect(median(counted.map((c) => c.actions))).toBeLessThanOrEqual(5)
  })

  it('take three at the most where only the outcome is another', () => {
    const second = counted.filter((c) => c.newOutcomeOnly)
    expect(second.length).toBeGreaterThan(20)
    expect(median(second.map((c) => c.actions))).toBeLessThanOrEqual(3)
  })

  it('come out as the file has them, but for a few that it misspells', () => {
    const wrong = counted.filter((c) => !c.right)
    expect(wrong.length / counted.length).toBeLessThan(0.03)
  })
})
