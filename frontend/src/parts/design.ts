/** The design of a rating round, in sentences. */

import type { Schemas } from '../api/client.ts'
import { count, counted } from './format.ts'

type Counts = Pick<Schemas['PlannedDesign'], 'left_out' | 'alike' | 'lowered'>

/** What is not asked about and how texts are shown, where there is something to say. */
export function designNotes(design: Counts): string[] {
  const notes: string[] = []
  if (design.left_out) notes.push(`${counted(design.left_out, 'source is', 'sources are')} left out: not every system has a text of ${design.left_out === 1 ? 'it' : 'them'}.`)
  if (design.alike) notes.push(`${counted(design.alike, 'pair is', 'pairs are')} left out: both texts say the same.`)
  if (design.lowered) notes.push('All texts are shown without capitals inside sentences, since one system writes so.')
  return notes
}

/** "Each system comes 4 to 5 times at each place, whatever is drawn.": what is certain, else the example's counts. */
export function evenly(balance: Schemas['DesignBalance']): string {
  const table = balance.places ?? balance.sides?.map((s) => [s.left, s.right]) ?? []
  const sure = balance.certain && [balance.certain.least, balance.certain.most]
  const all = table.length ? (sure ?? table.flat()) : []
  const [least, most] = [Math.min(...all), Math.max(...all)]
  const times = least === most ? counted(most, 'time') : `${count(least)} to ${counted(most, 'time')}`
  const where = balance.places ? 'at each place' : 'on each side'
  const followed = (balance.followed ?? []).flatMap((row, n) => row.filter((_, m) => m !== n))
  const after = followed.length ? (sure ?? followed) : []
  const follows = after.length ? ` and follows each other one ${Math.min(...after) === Math.max(...after) ? counted(after[0]!, 'time') : `${count(Math.min(...after))} to ${counted(Math.max(...after), 'time')}`}` : ''
  return all.length ? `Each system comes ${times} ${where}${follows}${sure ? ', whatever is drawn' : ' in this example'}.` : ''
}

/** Whether the counts of the table are those of the round: else they are an example within what is certain. */
export const isSure = (balance: Schemas['DesignBalance']): boolean => !!balance.certain && balance.certain.least === balance.certain.most
