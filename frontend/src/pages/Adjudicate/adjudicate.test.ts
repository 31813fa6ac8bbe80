import { describe, expect, it } from 'vitest'
import type { Value } from '../../kinds/kind.ts'
import { kinds } from '../../kinds/index.ts'
import { hasValue, initialState, missing, reduce, type Action } from './editorState.ts'
import { alwaysBindings, answerBindings } from './keys.ts'
import { following, emptyQueue, opened, overtaken, passed, received, returned, waitingAgain, type Row } from './queue.ts'
import { keysInWords, offered, REASON_KEYS, withReason } from './reasons.ts'

const value = { relation: 'agreement' } as unknown as Value
const run = (...actions: Action[]) => actions.reduce((state, action) => reduce(state, action, 3), initialState)

describe('the editor state', () => {
  it('is complete with an answer and a reason, whichever comes first', () => {
    expect(run({ do: 'take', answer: 1 }).complete).toBe(false)
    expect(run({ do: 'take', answer: 1 }, { do: 'give', reason: 'So.' })).toMatchObject({ taken: 1, reason: 'So.', complete: true })
    expect(run({ do: 'give', reason: ' So. ' }, { do: 'take', answer: 2 })).toMatchObject({ taken: 2, reason: 'So.', complete: true })
  })

  it('has something to save once an answer is taken or a value is written', () => {
    const wrote: Action = { do: 'wrote', value, draft: 1 }
    const saves = (...actions: Action[]) => hasValue(run(...actions))
    expect([saves(), saves({ do: 'give', reason: 'So.' }), saves({ do: 'write' }), saves({ do: 'take', answer: 0 }, { do: 'undo' })]).toEqual([false, false, false, false])
    expect([saves({ do: 'take', answer: 0 }), saves({ do: 'write' }, wrote)]).toEqual([true, true])
  })

  it('takes no answer that is not there, and no reason without words', () => {
    expect(run({ do: 'take', answer: 3 })).toBe(initialState)
    expect(run({ do: 'give', reason: '  ' })).toBe(initialState)
  })

  it('has what is written in the place of what was taken, and the reverse', () => {
    const wrote: Action = { do: 'wrote', value, draft: 1 }
    expect(run({ do: 'take', answer: 0 }, { do: 'write' }, wrote)).toMatchObject({ taken: null, written: value, draft: 1, writing: false })
    expect(run({ do: 'write' }, wrote, { do: 'take', answer: 0 })).toMatchObject({ taken: 0, written: null, draft: null })
  })

  it('waits for the value while it is being written, and keeps the reason', () => {
    const begun = run({ do: 'take', answer: 0 }, { do: 'write' }, { do: 'give', reason: 'So.' })
    expect(begun).toMatchObject({ writing: true, complete: false, reason: 'So.' })
    expect(reduce(begun, { do: 'wrote', value, draft: null }, 3).complete).toBe(true)
    expect(reduce(begun, { do: 'leave' }, 3)).toMatchObject({ writing: false, taken: 0, complete: false })
  })

  it('undoes within the unit first, and returns the same state if nothing is left', () => {
    expect(run({ do: 'take', answer: 0 }, { do: 'undo' })).toEqual(initialState)
    expect(run({ do: 'write' }, { do: 'undo' })).toMatchObject({ writing: false })
    expect(run({ do: 'undo' })).toBe(initialState)
  })

  it('says what is missing', () => {
    expect(missing(run({ do: 'take', answer: 0 }), 'Q')).toBe('Give a reason: Q')
    expect(missing(run({ do: 'give', reason: 'So.' }), '')).toContain('Take an answer')
    expect(missing(run({ do: 'write' }), '')).toContain('Esc')
    expect(missing(initialState, '')).toContain('Take an answer')
    expect(missing(run({ do: 'take', answer: 0 }, { do: 'give', reason: 'So.' }), '')).toBe('')
  })
})

describe('reasons', () => {
  it('keep their keys; a new one takes the next, then the key that was idle longest', () => {
    const six = ['a', 'b', 'c', 'd', 'e', 'f']
    expect(withReason(['a'], 'b', [])).toEqual(['a', 'b'])
    expect(withReason(['a'], 'a', [])).toEqual(['a'])
    expect(withReason(six, 'g', ['b', 'a', 'c', 'd', 'e', 'f', 'b'])).toEqual(['a', 'b', 'c', 'd', 'e', 'f'].map((r) => (r === 'a' ? 'g' : r)))
    expect(offered([...six, 'g'])).toEqual(six)
    expect(keysInWords(['a', 'b'])).toBe('Q E, or B to write one.')
    expect(keysInWords([])).toBe('B to write one.')
  })

  // Marking spans, rating, rewriting and writing take more letters. While their editor is open they are the editor's, which comes first; reasons have buttons.
  const MORE = ['best_worst', 'compare', 'counterfactual', 'entity', 'rate', 'write']
  it('stand on keys that no other editor of a kind has', async () => {
    for (const kind of kinds.filter((k) => !MORE.includes(k.key))) {
      const { default: task } = await kind.task()
      const taken = task.bindings.flatMap((b) => b.keys)
      expect(REASON_KEYS.filter((key) => taken.includes(key)), kind.key).toEqual([])
    }
  })
})

it('has no key twice', () => {
  const keys = [...answerBindings, ...alwaysBindings].flatMap((b) => b.keys)
  expect(new Set(keys).size).toBe(keys.length)
})

describe('the queue', () => {
  const row = (unit: number): Row => ({ unit, key: '', unit_name: '', text: '', contested: [], flagged: false })
  const three = opened(received(emptyQueue, [row(1), row(2), row(3)]), 1)

  it('goes on to what nothing was said of, and to nobody at its end', () => {
    const one = passed(three, 'decided')
    expect(one.open).toBe(2)
    expect(passed(passed(one, 'skipped'), 'decided').open).toBeNull()
    expect(following(three)!.unit).toBe(2)
    expect(following(three, 3)).toBeNull()
  })

  it('knows what somebody else decided meanwhile', () => {
    const waits = { contested: ['polarity'], flagged: false }
    expect(overtaken(waits, { contested: [], flagged: false })).toBe(true)
    expect(overtaken(waits, waits)).toBe(false)
    expect(overtaken(waits, { contested: [], flagged: true })).toBe(false)
    expect(overtaken({ contested: [], flagged: false }, { contested: [], flagged: false }), 'decided before').toBe(false)
  })

  it('comes back to a unit, which waits again', () => {
    const back = returned(passed(three, 'decided'), 1)
    expect(back.open).toBe(1)
    expect(passed(back, 'skipped').done.get(1)).toBe('skipped')
  })

  it('begins again with what was skipped, and takes no row twice', () => {
    const done = passed(passed(three, 'decided'), 'skipped')
    expect(waitingAgain(done).rows.map((r) => r.unit)).toEqual([2, 3])
    expect(received(three, [row(3), row(4)]).rows).toHaveLength(4)
  })
})
