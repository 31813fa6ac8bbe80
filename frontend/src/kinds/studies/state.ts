/** State of the list of a review's included studies. Immutable: each step returns a new object. */

import type { Schemas } from '../../api/client.ts'
import { counted } from '../../components/format.ts'
import { parsePasted } from './pasted.ts'

export type Card = Schemas['StudiesCard']
export type Value = Schemas['StudiesValue']
type Listed = Value['included_studies']['listed'][number]
export type Missing = NonNullable<Listed['missing']>

/** Reasons why an abstract is unavailable, with their keys. */
export const MISSING: readonly { readonly value: Exclude<Missing, ''>; readonly key: string; readonly title: string; readonly says: string }[] = [
  { value: 'old', key: '1', title: 'Too old', says: 'published before abstracts' },
  { value: 'other language', key: '2', title: 'Other language', says: 'no abstract in English' },
  { value: 'no abstract', key: '3', title: 'No abstract', says: 'published without one' },
]

/** Draft of an unfinished unit. */
export interface Draft {
  pasted: readonly string[]
  listed: readonly (readonly [pmid: string, missing: Missing])[]
  without: number
  at: number
}

export interface Row {
  readonly pmid: string
  readonly text: string
  /** Whether the known reference list of the review has the study. */
  readonly cited: boolean
  /** Whether the full text marks the study as included. */
  readonly marked: boolean
}

export class Listing {
  private constructor(
    readonly card: Card,
    /** Pasted PMIDs that are not references. */
    readonly pasted: readonly string[],
    readonly listed: ReadonlyMap<string, Missing>,
    readonly without: number,
    /** Index of the current row. */
    readonly at: number,
    readonly nudge: string,
    readonly complete: boolean,
    private readonly before: Listing | null,
  ) {}

  /** Initial state: the draft, otherwise the answer. */
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
  /** Number of listed studies, including those without a PMID. */
  get count(): number {
    return this.listed.size + this.without
  }

  /** Add pasted PMIDs once each, and report duplicates and words that are not PMIDs. */
  paste(text: string): Listing {
    const found = parsePasted(text)
    const own = found.pmids.includes(this.card.pmid)
    const pmids = found.pmids.filter((pmid) => pmid !== this.card.pmid)
    const alreadyListed = pmids.filter((pmid) => this.listed.has(pmid))
    const rows = new Set(this.rows.map((row) => row.pmid))
    const listed = new Map([...this.listed, ...pmids.filter((pmid) => !this.listed.has(pmid)).map((pmid) => [pmid, ''] as const)])
    const said = [
      `${pmids.length - alreadyListed.length} listed.`,
      alreadyListed.length && `Already listed: ${some(alreadyListed)}.`,
      found.again.length && `Pasted twice: ${some(found.again)}.`,
      own && `${this.card.pmid} is the review itself.`,
      found.others.length && `Not a PMID: ${some(found.others)}.`,
    ]
    return this.after({ pasted: [...this.pasted, ...pmids.filter((pmid) => !rows.has(pmid))], listed, nudge: said.filter(Boolean).join(' ') })
  }
  /** Add a row to the list and go to the next, or remove it. */
  toggle(at = this.at): Listing {
    const row = this.rows[at]
    if (!row) return this
    if (!row.pmid) return this.saying(NO_PMID)
    const listed = new Map(this.listed)
    const wasListed = listed.delete(row.pmid)
    if (!wasListed) listed.set(row.pmid, '')
    return this.after({ listed, at: wasListed ? at : Math.min(at + 1, this.rows.length - 1) })
  }
  /** Add all references that the full text marks as included studies. */
  all(): Listing {
    const marked = this.card.cited.filter((one) => one.marked)
    const pmids = marked.flatMap((one) => (one.pmid && !this.listed.has(one.pmid) ? [one.pmid] : []))
    if (!marked.length) return this.saying('No reference is marked as an included study.')
    const without = marked.filter((one) => !one.pmid).length
    const nudge = `${pmids.length} listed.${without ? ` ${without} marked without a PMID: search PubMed, or count them with +.` : ''}`
    return this.after({ listed: new Map([...this.listed, ...pmids.map((pmid) => [pmid, ''] as const)]), nudge })
  }
  /** Set or clear the reason why the abstract of the current row is unavailable. Setting it lists the study. */
  lacks(missing: Missing): Listing {
    const row = this.here
    if (!row) return this
    if (!row.pmid) return this.saying(NO_PMID)
    return this.after({ listed: new Map(this.listed).set(row.pmid, this.listed.get(row.pmid) === missing ? '' : missing) })
  }
  /** Change the number of studies not in PubMed. */
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
  /** Complete the list. An empty list needs a second press. */
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

const NONE = 'No study is listed. Press Enter again if the review includes none.'
const NO_PMID = 'This reference has no PMID. Search PubMed and paste the PMID, or count the study with +.'
const some = (words: readonly string[]) => `${words.slice(0, 5).join(', ')}${words.length > 5 ? ` and ${words.length - 5} more` : ''}`

/** Size of the list in words. */
export function inWords(value: Value | null): string {
  const said = value?.included_studies
  if (!said) return ''
  const lacking = said.listed.filter((one) => one.missing).length
  const parts = [counted(said.listed.length, 'study', 'studies'), lacking && `${lacking} without an abstract`, said.without_pmid && `${said.without_pmid} without a PMID`]
  return parts.filter(Boolean).join(', ')
}
