import { describe, expect, it } from 'vitest'
import type { Schemas } from '../../api/client.ts'
import { grouped, place } from './newsGroups.ts'

const notice = (id: number, text: string, project = 'Eye'): Schemas['Notification'] => ({ id, what: 'finished', text, path: `/projects/eye/systems/runs/${id}`, project, at: '2026-11-23T05:00:00Z', unread: true })

describe('notices', () => {
  it('that are one are told apart by where they lead', () => {
    expect(['/projects/eye/systems/runs/6', '/projects/eye/rounds/12', '/projects/eye/import/4', '/projects/eye/releases'].map(place)).toEqual(['Run 6', 'Round 12', 'Import 4', null])
  })
  it('are one where they say the same of a project, in the order of the newest', () => {
    const found = grouped([notice(6, 'Run: finished'), notice(5, 'Release: finished'), notice(4, 'Run: finished'), notice(3, 'Run: failed'), notice(2, 'Run: finished', 'Ear')])
    expect(found.map((g) => [g.first.id, g.all.length])).toEqual([[6, 2], [5, 1], [3, 1], [2, 1]])
  })
})
