/** The design of a rating round, in sentences. */

import type { Schemas } from '../../api/client.ts'
import { count, counted } from '../format.ts'

type Counts = Pick<Schemas['RatingDesign'], 'left_out' | 'alike' | 'lowered'>

/** Notes on excluded units and on how texts are shown. */
export function designNotes(design: Counts): string[] {
  const notes: string[] = []
  if (design.left_out) notes.push(`${counted(design.left_out, 'source is', 'sources are')} excluded: not all systems have a summary.`)
  if (design.alike) notes.push(`${counted(design.alike, 'comparison is', 'comparisons are')} excluded: texts are equal.`)
  if (design.lowered) notes.push('All texts are shown without capitals inside sentences, because one system writes none.')
  return notes
}

/** "Each system is 4 to 5 times at each position, for any seed.": the guaranteed counts, else those of the example. */
export function evenly(balance: Schemas['DesignBalance']): string {
  if (!balance.positions && !balance.sides) return fromPageToPage(balance.transitions ?? [])
  const table = balance.positions ?? balance.sides?.map((s) => [s.left, s.right]) ?? []
  const sure = balance.certain && [balance.certain.least, balance.certain.most]
  const all = table.length ? (sure ?? table.flat()) : []
  const [least, most] = [Math.min(...all), Math.max(...all)]
  const times = least === most ? counted(most, 'time') : `${count(least)} to ${counted(most, 'time')}`
  const where = balance.positions ? 'at each position' : 'on each side'
  const followed = (balance.transitions ?? []).flatMap((row, n) => row.filter((_, m) => m !== n))
  const after = followed.length ? (sure ?? followed) : []
  const follows = after.length ? ` and follows each other system ${Math.min(...after) === Math.max(...after) ? counted(after[0]!, 'time') : `${count(Math.min(...after))} to ${counted(Math.max(...after), 'time')}`}` : ''
  return all.length ? `Each system is ${times} ${where}${follows}${sure ? ', for any seed' : ' in this example'}.` : ''
}

/** How often systems follow one another, for pages with one text. */
function fromPageToPage(followed: number[][]): string {
  const all = followed.flat()
  const [least, most] = [Math.min(...all), Math.max(...all)]
  return all.length ? `From page to page each system follows each system (itself included) ${least === most ? counted(most, 'time') : `${count(least)} to ${counted(most, 'time')}`} in this example.` : ''
}

/** Whether the table has the guaranteed counts; else it is an example. */
export const isSure = (balance: Schemas['DesignBalance']): boolean => !!balance.certain && balance.certain.least === balance.certain.most
