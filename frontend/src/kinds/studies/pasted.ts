/** Extract PMIDs from pasted text. */

const ID = /^[1-9]\d{0,9}$/
const ADDRESS = /https?:\/\/\S*?\/(\d+)\/?(?=[\s,;]|$)/gi
const NAMED = /\bpmids?\b\s*:?\s*(\d+)/gi

export interface Pasted {
  readonly pmids: readonly string[]
  /** Repeated PMIDs. */
  readonly again: readonly string[]
  /** Words that are not PMIDs. */
  readonly others: readonly string[]
}

/**
 * PMIDs are numbers separated by spaces, commas or lines, and PubMed addresses. In prose, such as printed references, only numbers labelled
 * as PMID count, because others can be years.
 */
export function parsePasted(text: string): Pasted {
  const plain = text.replace(ADDRESS, ' PMID $1 ')
  const named = [...plain.matchAll(NAMED)].map((found) => found[1]!)
  const words = plain.replace(/\bpmids?\b\s*:?/gi, ' ').split(/[\s,;]+/).filter(Boolean)
  const prose = words.filter((word) => !/^\d+$/.test(word)).length * 2 > words.length
  const pmids = prose ? named : words.filter((word) => ID.test(word))
  return {
    pmids: [...new Set(pmids)],
    again: [...new Set(pmids.filter((word, n) => pmids.indexOf(word) !== n))],
    others: prose && named.length ? [] : [...new Set(words.filter((word) => !ID.test(word)))],
  }
}
