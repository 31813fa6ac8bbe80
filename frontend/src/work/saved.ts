/** The line that shows whether answers are saved. */

import type { OutboxState } from './outbox.ts'

export interface Saved {
  /** Announced to screen readers when it changes. */
  state: 'nothing' | 'saved' | 'sending' | 'unsent' | 'signed out' | 'refused' | 'full'
  text: string
}

const answers = (n: number) => `${n} answer${n === 1 ? '' : 's'}`

/** `slow`: sending takes long enough to be shown. `more`: there is a unit to work on. */
export function savedLine(s: OutboxState, full: boolean, slow: boolean, more = true): Saved {
  if (full) return { state: 'full', text: "Not saved: this browser's storage is full. Do not leave this page." }
  if (s.waiting && s.hindrance === 'signed-out') {
    return { state: 'signed out', text: `Signed out. ${answers(s.waiting)} stored on this computer, not sent yet.` }
  }
  if (s.waiting && s.hindrance === 'offline') {
    return { state: 'unsent', text: `Offline. ${answers(s.waiting)} stored on this computer, not sent yet.${more ? ' You can continue.' : ''}` }
  }
  if (s.waiting && s.hindrance === 'too-fast') {
    return { state: 'sending', text: `${answers(s.waiting)} stored on this computer. The server is busy; they are sent shortly.${more ? ' You can continue.' : ''}` }
  }
  if (s.refused) return { state: 'refused', text: `${answers(s.refused)} refused by the server. See above.` }
  if (s.waiting && slow) return { state: 'sending', text: `${answers(s.waiting)} not sent yet. Sending …` }
  if (s.savedAt) return { state: 'saved', text: `Saved ${clock(s.savedAt)}` }
  return { state: 'nothing', text: s.waiting ? 'Sending …' : 'Nothing to save yet' }
}

function clock(at: Date): string {
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((n) => String(n).padStart(2, '0')).join(':')
}
