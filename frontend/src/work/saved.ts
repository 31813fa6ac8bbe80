/** The line that always says whether the work is safe. */

import type { OutboxState } from './outbox.ts'

export interface Saved {
  /** Announced when it changes, and only then. */
  state: 'nothing' | 'saved' | 'sending' | 'unsent' | 'signed out' | 'refused' | 'full'
  text: string
}

const answers = (n: number) => `${n} answer${n === 1 ? '' : 's'}`

/** `slow`: what is being sent has been on its way for so long that it should be said. `more`: there is a unit to work on. */
export function savedLine(s: OutboxState, full: boolean, slow: boolean, more = true): Saved {
  if (full) return { state: 'full', text: "Not saved: this browser's storage is full. Stay here." }
  if (s.waiting && s.hindrance === 'signed-out') {
    return { state: 'signed out', text: `Signed out. ${answers(s.waiting)} kept on this computer, not yet sent.` }
  }
  if (s.waiting && s.hindrance === 'offline') {
    return { state: 'unsent', text: `Offline. ${answers(s.waiting)} kept on this computer, not yet sent.${more ? ' Go on working.' : ''}` }
  }
  if (s.waiting && s.hindrance === 'too-fast') {
    return { state: 'sending', text: `${answers(s.waiting)} kept on this computer. The server takes them in a moment${more ? '; go on working' : ''}.` }
  }
  if (s.refused) return { state: 'refused', text: `${answers(s.refused)} not taken by the server. See above.` }
  if (s.waiting && slow) return { state: 'sending', text: `${answers(s.waiting)} not yet sent. Sending …` }
  if (s.savedAt) return { state: 'saved', text: `Saved ${clock(s.savedAt)}` }
  return { state: 'nothing', text: s.waiting ? 'Sending …' : 'Nothing to save yet' }
}

function clock(at: Date): string {
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((n) => String(n).padStart(2, '0')).join(':')
}
