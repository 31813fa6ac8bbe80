import { expect, it } from 'vitest'
import type { OutboxState } from './outbox.ts'
import { savedLine } from './saved.ts'

const state = (more: Partial<OutboxState> = {}): OutboxState => ({ waiting: 0, refused: 0, hindrance: 'none', sending: false, savedAt: null, ...more })
const savedAt = new Date(2026, 0, 5, 12, 3, 7)

it('has the wording that people were promised', () => {
  expect(savedLine(state({ savedAt }), false, false).text).toBe('Saved 12:03:07')
  expect(savedLine(state({ waiting: 2, hindrance: 'offline', savedAt }), false, false).text).toBe(
    'Offline. 2 answers stored on this computer, not sent yet. You can continue.')
  expect(savedLine(state({ waiting: 1, hindrance: 'offline' }), false, false).text).toBe(
    'Offline. 1 answer stored on this computer, not sent yet. You can continue.')
  expect(savedLine(state({ savedAt }), true, false).text).toBe("Not saved: this browser's storage is full. Do not leave this page.")
})

it('tells nobody to go on where there is nothing to go on with', () => {
  expect(savedLine(state({ waiting: 1, hindrance: 'offline' }), false, false, false).text).toBe('Offline. 1 answer stored on this computer, not sent yet.')
  expect(savedLine(state({ waiting: 1, hindrance: 'too-fast' }), false, false, false).text).not.toMatch(/go on/i)
})

it('does not change its state, and so announces nothing, from one saved answer to the next', () => {
  const now = savedLine(state({ savedAt }), false, false).state
  expect(savedLine(state({ savedAt, waiting: 1, sending: true }), false, false).state).toBe(now)
  expect(savedLine(state({ savedAt: new Date() }), false, false).state).toBe(now)
})

it('counts what takes long, what is held up by signing in, and what was refused', () => {
  expect(savedLine(state({ savedAt, waiting: 3 }), false, true).text).toBe('3 answers not sent yet. Sending …')
  expect(savedLine(state({ waiting: 2, hindrance: 'too-fast' }), false, false)).toEqual({
    state: 'sending', text: '2 answers stored on this computer. The server is busy; they are sent shortly. You can continue.',
  })
  expect(savedLine(state({ waiting: 2, hindrance: 'signed-out' }), false, false).text).toMatch(/^Signed out. 2 answers/)
  expect(savedLine(state({ refused: 1 }), false, false).state).toBe('refused')
})
