/** What needs the lead of a project, in a fixed order, and the project's next step. */

import type { Schemas } from '../../api/client.ts'
import type { TodoItem } from '../../components/TodoList.svelte'
import { capital, count, counted, listed } from '../../components/format.ts'

type Overview = Schemas['Overview']

/** Longest error of a job in the list; the page of the job shows all of it. */
const LONGEST = 160

const some = (names: readonly string[], most = 3) => listed(names.length > most + 1 ? [...names.slice(0, most), `${count(names.length - most)} more`] : names)
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)
const shortened = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1).trimEnd()}…` : text)

interface People {
  name: string
  days: number
  left: number | null
  round: Schemas['OverviewRound']
}

/** Quiet people of open rounds, each once, the longest silence first. */
function quietPeople(rounds: readonly Schemas['OverviewRound'][]): People[] {
  const byMember = new Map<number, People>()
  const all = rounds.flatMap((round) => round.at_work.map((p) => ({ member: p.member, name: p.name || p.pseudonym, days: p.quiet_days, left: p.left, round })))
  for (const p of all.sort((a, b) => b.days - a.days)) if (p.days && !byMember.has(p.member)) byMember.set(p.member, p)
  return [...byMember.values()]
}

/** The tasks of a lead or curator; `leads`: whether the person can close rounds; `dismiss`: removes a failed job. */
export function todo(overview: Overview, stale: Schemas['StaleTotals'] | null, { slug, leads, dismiss }: { slug: string; leads: boolean; dismiss?: (job: number) => void }): TodoItem[] {
  const open = overview.rounds.filter((r) => r.status === 'open')
  const { contested, failed_jobs: failed, unfinished, unsettled, waiting } = overview
  const changed = stale?.changed ?? 0
  const outdated = sum(stale?.outdated.map((o) => o.answers) ?? [])
  const quiet = quietPeople(open)
  const full = leads ? open.filter((r) => r.assignments && r.answered === r.assignments) : []
  const types = (['flagged', 'commented', 'skipped'] as const).filter((what) => unsettled?.[what])
  const raised = capital(types.length === 1 ? types[0]! : 'unsettled')
  const inEach = contested.map((r) => (contested.length > 1 ? `${r.name} (${count(r.count)})` : r.name))
  const items = [
    { key: 'contested', n: sum(contested.map((r) => r.count)), one: 'Contested field', many: 'Contested fields', reason: `People disagree in ${some(inEach)}`, button: 'Adjudicate', page: `rounds/${contested[0]?.round}/adjudicate` },
    { key: 'waiting', n: leads ? waiting.length : 0, one: 'Waiting round', many: 'Waiting rounds', reason: waiting.length > 1 ? `The pilots of ${some(waiting.map((r) => r.name))} do not meet their bars` : `The pilot of ${waiting[0]?.name} does not meet its bar`, button: 'Decide', page: `rounds/${waiting[0]?.round}` },
    { key: 'failed', n: failed.length, one: 'Failed job', many: 'Failed jobs', reason: `${failed.length > 1 ? 'Last: ' : ''}${failed[0]?.what}: ${shortened(failed[0]?.error ?? '')}`, button: 'See failure', page: failed[0]?.page ?? '',
      dismiss: dismiss && failed[0] && { words: failed.length > 1 ? 'Dismiss the last' : 'Dismiss', run: () => dismiss(failed[0]!.id) } },
    {
      key: 'stale', n: changed + outdated, one: 'Stale label', many: 'Stale labels', button: 'Review', page: changed ? 'needs-review' : 'needs-review?reason=guideline',
      reason: changed && outdated
        ? `${count(changed)} after a change of the text or tuple, ${count(outdated)} under an earlier guideline`
        : changed ? 'The text or tuple changed after it was labelled' : 'Answered under an earlier guideline',
    },
    {
      key: 'flagged', n: unsettled?.open ?? 0, one: `${raised} answer`, many: `${raised} answers`, button: 'Answer', page: 'inbox',
      reason: types.length > 1 ? types.map((what) => `${count(unsettled![what])} ${what}`).join(', ') : 'Not settled in the inbox yet',
    },
    {
      key: 'unfinished', n: unfinished.length, one: 'Unfinished unit', many: 'Unfinished units', button: 'See round', page: `rounds/${unfinished[0]?.round}`,
      reason: `${some(unfinished.map((u) => `${u.person} left ${u.key} in ${u.name}`))}; others can take ${unfinished.length > 1 ? 'them' : 'it'}`,
    },
    {
      key: 'quiet', n: quiet.length, one: 'Quiet person', many: 'Quiet people', button: 'See round', page: `rounds/${quiet[0]?.round.id}`,
      reason: quiet.length > 1
        ? `${some(quiet.map((p) => p.name))} have not answered for ${counted(quiet.at(-1)!.days, 'day')} or more`
        : `${quiet[0]?.name} has not answered for ${counted(quiet[0]?.days ?? 0, 'day')}; ${quiet[0]?.left === null ? 'units' : count(quiet[0]?.left ?? 0)} are left in ${quiet[0]?.round.name}`,
    },
    {
      key: 'close', n: full.length, one: 'Round to close', many: 'Rounds to close', button: 'Close round', page: `rounds/${full[0]?.id}?close=1`,
      reason: full.length > 1 ? `${some(full.map((r) => r.name))} have all answers` : `${full[0]?.name} has all ${counted(full[0]?.answered ?? 0, 'answer')}`,
    },
  ]
  return items.filter((i) => i.n > 0).map(({ key, n, one, many, reason, button, page, dismiss }) => ({ key, n, title: n === 1 ? one : many, reason, button, dismiss, href: `/projects/${slug}/${page}` }))
}

/** The first next step that the page does not show already: neither as a task nor as an open round. */
export function nextStep(way: Schemas['Way'], shown: { tasks: readonly TodoItem[]; overview: Overview; slug: string }): Schemas['NextStep'] | null {
  const pages = new Set([
    ...shown.tasks.map((t) => t.href),
    ...[...shown.overview.failed_jobs.map((j) => j.page), ...shown.overview.rounds.filter((r) => r.status === 'open').map((r) => `rounds/${r.id}`)].map((page) => `/projects/${shown.slug}/${page}`),
  ])
  return [way.next, ...way.then].find((step) => step && !pages.has(`/projects/${shown.slug}/${step.page}`)) ?? null
}
