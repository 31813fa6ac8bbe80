/** A finding in words: parts of a sentence, and what the sentence rests on. */

import { plain } from '../plots/latex.ts'

export interface Part {
  words: string
  strong?: boolean
}

export interface Finding {
  parts: readonly Part[]
  /** The test, or that there is none. */
  note: string
}

export function asText({ parts, note }: Finding): string {
  return `${parts.map((part) => part.words).join('')} (${note.replace(/\.$/, '')}.)`
}

export function asLatex({ parts, note }: Finding): string {
  return `${parts.map((part) => (part.strong ? `\\textbf{${plain(part.words)}}` : plain(part.words))).join('')} (${plain(note.replace(/\.$/, ''))}.)`
}


/** Names as bold parts: "A, B and C". */
export function named(names: readonly string[]): Part[] {
  return names.flatMap((words, at) => [...(at ? [{ words: at === names.length - 1 ? ' and ' : ', ' }] : []), { words, strong: true }])
}
