import { expect, it } from 'vitest'
import { amiss, announced, chipOf, isEnded, finishOf, leftOf, paceOf, stateOf, stepOf, type Progress } from './runs.ts'

const progress = (more: Partial<Progress> = {}): Progress => ({
  state: 'running', since: null, total: 381, done: 0, failed: 0, waiting: 381, pace: null, seconds_left: null, unknown: '', items_cut: 0,
  tokens_cut: null, tokens_out: null, command: '', note: '', error: '', ...more,
})

it('says how it stands', () => {
  expect(stateOf(progress({ state: 'waiting for a worker' }))).toBe('waiting for a worker')
  expect(stateOf(progress({ state: 'done' }))).toBe('complete')
  expect(stateOf(progress({ state: 'done', failed: 2 }))).toBe('ended, 2 failed')
})

it('names the state of a run that needs an action', () => {
  expect(chipOf(progress())).toBe('open')
  expect(chipOf(progress({ state: 'stalled' }))).toBe('quiet')
  expect(chipOf(progress({ state: 'done', failed: 2 }))).toBe('failed')
  expect(chipOf(progress({ state: 'stopped', error: 'No memory.' }))).toBe('failed')
  expect(chipOf(progress({ state: 'stopped' }))).toBe('cancelled')
})

it('has ended when nothing will change by itself, and offers the one step that then makes sense', () => {
  const run = (status: 'running' | 'stopped' | 'done', more: Partial<Progress> = {}) => ({ status, progress: progress(more) })
  expect(isEnded(run('stopped', { state: 'stopping' }))).toBe(false)
  expect(isEnded(run('stopped', { state: 'stopped' }))).toBe(true)
  expect([run('running'), run('stopped', { failed: 1 }), run('done', { failed: 1 }), run('done')].map((r) => stepOf(r)?.what)).toEqual(['stop', 'resume', 'retry', undefined])
  expect([progress(), progress({ state: 'stalled' }), progress({ state: 'stopped', error: 'No GPU.' })].map(amiss)).toEqual([false, true, true])
})

it('says a pace in the unit that fits, and a dash where there is none', () => {
  expect([null, 1.25, 42.4, 1800].map((pace) => paceOf({ pace }))).toEqual(['–', '1.3 / min', '42 / min', '30 / s'])
  expect([null, 0.3, 75].map((seconds_left) => leftOf({ seconds_left }))).toEqual(['–', '< 1 s', '1 min'])
})

it('tells a screen reader of each quarter, not of each item', () => {
  expect(announced(progress({ done: 95 }))).toBe('running, 0% done')
  expect(announced(progress({ done: 96 }))).toBe('running, 25% done')
  expect(announced(progress({ done: 200, failed: 100 }))).toBe('running, 75% done')
  expect(announced(progress({ state: 'stopped', done: 200 }))).toBe('stopped, 200 of 381 done')
})

it('says why a text ends where it does', () => {
  expect(finishOf('length')).toBe('cut off at the maximum length')
})
