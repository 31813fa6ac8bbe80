/** The list of a review's included studies: what is on it, and where one is. Nothing in it is changed; each step is new. */

import type { Schemas } from '../../api/client.ts'
import { counted } from '../../parts/format.ts'
import { pasted } from './pasted.ts'

export type Card = Schemas['StudiesCard']
export type Value = Schemas['StudiesValue']
type Listed = Value['included_studies']['listed'][number]
export type Missing = NonNullable<Listed['missing']>

/** Why an abstract cannot be had, by the key that is printed on it. */
export const MISSING: readonly { readonly value: Exclude<Missing, ''>; readonly key: string; readonly title: string; readonly says: string }[] = [
  { value: 'old', key: '1', title: 'Too old', says: 'older than abstracts are' },
  { value: 'other language', key: '2', title: 'Other language', says: 'no abstract in English' },
  { value: 'no abstract', key: '3', title: 'No abstract', says: 'published without one' },
]

/** What is kept of an unfinished unit. */
export interface Draft {
  pasted: readonly string[]
  listed: readonly (readonly [pmid: string, missing: Missing])[]
  without: number
  at: number
}

export interface Row {
  readonly pmid: string
  readonly text: string
  /** Whether the review's reference list, as far as it is known, has it. */
  readonly cited: boolean
  /** Whether the full text marks it as an included study. */
  readonly marked: boolean
}

export class Listing {
  private constructor(
    readonly card: Card,
    /** What was pasted and is none of the references. */
    readonly pasted: readonly string[],
    readonly listed: ReadonlyMap<string, Missing>,
    readonly without: number,
    /** The row at hand, from 0. */
    readonly at: number,
    readonly nudge: string,
    readonly complete: boolean,
    private readonly before: Listing | null,
  ) {}

  /** Where a unit begins: with its draft, else with its answer. */
  static begin(card: Card, draft: Draft | null): Listing {
    if (draft) return new Listing(card, draft.pasted, new Map(draft.listed), draft.without, draft.at, '', false, null)
    const said = card.value?.included_studies
    const listed = new Map((said?.listed ?? []).map((one) => [one.pmid, one.missing ?? '']))
    const cited = new Set(card.cited.map((one) => one.pmid))
    return new Listing(card, [...listed.keys()].filter((pmid) => !cited.has(pmid)), listed, said?.without_pmid ?? 0, 0, '', false, null)
  }

  get rows(): readonly Row[] {
    return [...this.pasted.map((pmid) => ({ pmid, text: '', cited: false, marked: false })), ...this.card.cited.map((one) => ({ ...one, cited: true }))]
  }
  get here(): Row | undefined {
    return this.rows[this.at]
  }
  get draft(): Draft {
    return { pasted: this.pasted, listed: [...this.listed], without: this.without, at: this.at }
  }
  get canUndo(): boolean {
    return this.before !== null
  }
  /** How many studies are on the list, with those that have no PMID. */
  get count(): number {
    return this.listed.size + this.without
  }

  /** Lists what was pasted, each once, and says what was there already and what is no PMID. */
  paste(text: string): Listing {
    const found = pasted(text)
    const own = found.pmids.includes(this.card.pmid)
    const pmids = found.pmids.filter((pmid) => pmid !== this.card.pmid)
    const there = pmids.filter((pmid) => this.listed.has(pmid))
    const rows = new Set(this.rows.map((row) => row.pmid))
    const listed = new Map([...this.listed, ...pmids.filter((pmid) => !this.listed.has(pmid)).map((pmid) => [pmid, ''] as const)])
    const said = [
      `${pmids.length - there.length} listed.`,
      there.length && `On the list already: ${some(there)}.`,
      found.again.length && `Pasted twice: ${some(found.again)}.`,
      own && `${this.card.pmid} is the review itself.`,
      found.others.length && `No PMID: ${some(found.others)}.`,
    ]
    return this.after({ pasted: [...this.pasted, ...pmids.filter((pmid) => !rows.has(pmid))], listed, nudge: said.filter(Boolean).join(' ') })
  }
  /** Lists a row and goes to the next, or takes it off the list. */
  toggle(at = this.at): Listing {
    const row = this.rows[at]
    if (!row) return this
    if (!row.pmid) return this.saying(NO_PMID)
    const listed = new Map(this.listed)
    const off = listed.delete(row.pmid)
    if (!off) listed.set(row.pmid, '')
    return this.after({ listed, at: off ? at : Math.min(at + 1, this.rows.length - 1) })
  }
  /** Lists all references that the full text marks as included studies. */
  all(): Listing {
    const marked = this.card.cited.filter((one) => one.marked)
    const pmids = marked.flatMap((one) => (one.pmid && !this.listed.has(one.pmid) ? [one.pmid] : []))
    if (!marked.length) return this.saying('No reference is marked as an included study.')
    const without = marked.filter((one) => !one.pmid).length
    const nudge = `${pmids.length} listed.${without ? ` ${without} marked without a PMID: look for them on PubMed, or count them with +.` : ''}`
    return this.after({ listed: new Map([...this.listed, ...pmids.map((pmid) => [pmid, ''] as const)]), nudge })
  }
  /** Says why the abstract of the row at hand cannot be had, or takes that back. It is a study of the list then. */
  lacks(missing: Missing): Listing {
    const row = this.here
    if (!row) return this
    if (!row.pmid) return this.saying(NO_PMID)
    return this.after({ listed: new Map(this.listed).set(row.pmid, this.listed.get(row.pmid) === missing ? '' : missing) })
  }
  /** One more or one fewer study that PubMed does not have. */
  more(by: number): Listing {
    const without = Math.max(0, this.without + by)
    return without === this.without ? this : this.after({ without })
  }
  move(by: number): Listing {
    return this.go(this.at + by)
  }
  go(to: number): Listing {
    const at = Math.max(0, Math.min(this.rows.length - 1, to))
    return at === this.at ? this : new Listing(this.card, this.pasted, this.listed, this.without, at, '', false, this.before)
  }
  /** The list is whole. Asked twice where nothing is on it. */
  next(): Listing {
    if (!this.count && this.nudge !== NONE) return this.saying(NONE)
    return new Listing(this.card, this.pasted, this.listed, this.without, this.at, this.nudge, true, this.before)
  }
  undo(): Listing {
    return this.before ?? this
  }

  get value(): Value {
    const listed = this.rows.flatMap(({ pmid }) => (pmid && this.listed.has(pmid) ? [{ pmid, missing: this.listed.get(pmid)! }] : []))
    return { included_studies: { listed, without_pmid: this.without } }
  }

  private saying(nudge: string): Listing {
    return new Listing(this.card, this.pasted, this.listed, this.without, this.at, nudge, false, this.before)
  }
  private after(change: { pasted?: readonly string[]; listed?: ReadonlyMap<string, Missing>; without?: number; at?: number; nudge?: string }): Listing {
    const { pasted = this.pasted, listed = this.listed, without = this.without, at = this.at, nudge = '' } = change
    return new Listing(this.card, pasted, listed, without, at, nudge, false, this)
  }
}

const NONE = 'No study is listed. Enter again if the review includes none.'
const NO_PMID = 'No PMID is given for it: look for it on PubMed and paste the PMID, or count it with +.'
const some = (words: readonly string[]) => `${words.slice(0, 5).join(', ')}${words.length > 5 ? ` and ${words.length - 5} more` : ''}`

/** What was said, in a few words. */
export function inWords(value: Value | null): string {
  const said = value?.included_studies
  if (!said) return ''
  const lacking = said.listed.filter((one) => one.missing).length
  const parts = [counted(said.listed.length, 'study', 'studies'), lacking && `${lacking} without an abstract`, said.without_pmid && `${said.without_pmid} without a PMID`]
  return parts.filter(Boolean).join(', ')
}
