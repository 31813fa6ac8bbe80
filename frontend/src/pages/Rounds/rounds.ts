/** What the list of rounds shows of a round: its state, its people, and the next action. */

import type { Schemas } from '../../api/client.ts'
import { count, counted } from '../../components/format.ts'
import type { ChipState } from '../../components/StateChip.svelte'

export type Row = Schemas['RoundListRow']
type Shown = Pick<Row, 'id' | 'status' | 'purpose' | 'assignments' | 'left' | 'people' | 'rolling' | 'independent' | 'designed' | 'kept_blind' | 'to_adjudicate' | 'quiet'> & { gate?: Row['gate'] }

/** Permissions of the reader. */
export interface Reader {
  /** Open, change and close rounds. */
  changes: boolean
  curates: boolean
  /** See who answered what. */
  watches: boolean
}

export interface RoundState {
  chip: ChipState
  words: string
  action: string
  /** Page of the action, below the project's page. */
  page: string
  /** Whether the round waits for the reader. */
  needs: boolean
  /** Position in the list: what needs the reader first. */
  rank: number
}

/** The state of a round and its next action for a reader. */
export function stateOf(r: Shown, reader: Reader): RoundState {
  const page = `rounds/${r.id}`
  const state = (chip: ChipState, words: string, action: string, rank = 9, to = page): RoundState => ({ chip, words, action, page: to, needs: rank < 9, rank })
  if (r.status === 'preparing' && r.gate) {
    const decides = r.gate.result === 'not met' && reader.changes
    return state(r.gate.result === 'not met' ? 'quiet' : 'draft', 'Waits for pilot', decides ? 'Decide' : 'Follow', decides ? 4 : 9)
  }
  if (r.status === 'preparing') return state('draft', 'Preparing', 'Follow')
  if (r.status === 'closed') {
    if (r.to_adjudicate) return reader.curates ? state('contested', 'Contested', `Adjudicate ${count(r.to_adjudicate)}`, 0, `${page}/adjudicate`) : state('contested', 'Contested', 'Open')
    if (r.designed && r.kept_blind) return state('done', 'Closed, blind', reader.changes ? 'Unblind' : 'Open')
    if (r.designed) return state('done', 'Closed', 'Read results', 9, 'results?view=ratings')
    return r.independent && reader.watches ? state('done', 'Closed', 'Read agreement', 9, `${page}/agreement`) : state('done', 'Closed', 'Open')
  }
  // Such a round is never closed and has no people.
  if (r.purpose === 'curation') return state('open', 'Always open', 'Follow')
  if (r.assignments && !r.left && !r.rolling) return reader.changes ? state('ready', 'Ready to close', 'Close round', 1, `${page}?close=1`) : state('ready', 'Ready to close', 'Follow')
  if (r.quiet.length) return state('quiet', 'Open, quiet', 'Follow', reader.changes ? 2 : 9)
  if (!r.people) return state('open', 'Open', reader.changes ? 'Add people' : 'Follow', reader.changes ? 3 : 9)
  return state('open', 'Open', 'Follow')
}

/** "Ann, Ben and 3 more", "5 people" if names are hidden, "none". */
export function peopleOf(r: Pick<Row, 'names' | 'people'>): string {
  if (!r.people) return 'none'
  if (!r.names.length) return counted(r.people, 'person', 'people')
  const more = r.people - r.names.length
  return more > 0 ? `${r.names.join(', ')} and ${count(more)} more` : r.names.join(', ')
}

/** "Ben quiet for 4 days", "Ben and Eva quiet for 4 days or more", "5 people quiet for 3 days or more". */
export function quietPeople(quiet: Row['quiet']): string {
  if (!quiet.length) return ''
  const days = Math.min(...quiet.map((p) => p.quiet_days))
  const who = quiet.length > 1 ? counted(quiet.length, 'person', 'people') : quiet[0]!.name
  return `${who} quiet for ${counted(days, 'day')}${quiet.length > 1 ? ' or more' : ''}`
}

/** What a waiting round needs, and what was read: "AC1 0.61 …, 97% lower bound 0.466, n = 40; needs AC1 of polarity: 97% lower bound 0.60". */
export function gateInWords(gate: NonNullable<Row['gate']>): string {
  return `${gate.pilot.name}: ${gate.reads || (gate.pilot.open ? 'open' : 'closed')}; needs ${gate.needs}`
}

/** Time of the last change that the list knows: the last answer, the closing, or the opening. */
export const changedAt = (r: Pick<Row, 'closed_at' | 'last_answer_at' | 'opened_at'>): string => r.closed_at ?? r.last_answer_at ?? r.opened_at

export const FILTERS = {
  all: () => true,
  needs: (_: Shown, s: RoundState) => s.needs,
  open: (r: Shown) => r.status !== 'closed',
  closed: (r: Shown) => r.status === 'closed',
} as const
export type Filter = keyof typeof FILTERS
