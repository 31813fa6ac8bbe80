import { expect, test } from 'vitest'
import { platformAddress, readTakeAddress } from './takeAddress.ts'

const read = (address: string) => readTakeAddress(new URL(address))
const NAMES = { id: 'PROLIFIC_PID', study: 'STUDY_ID', session: 'SESSION_ID' }

test('parameters are read before the #, and at the end of the address', () => {
  const wanted = { token: 'Ab-_1', query: { PROLIFIC_PID: 'p 1', STUDY_ID: 's' } }
  expect(read('https://c.org/take?PROLIFIC_PID=p%201&STUDY_ID=s#Ab-_1')).toEqual(wanted)
  expect(read('https://c.org/take#Ab-_1?PROLIFIC_PID=p%201&STUDY_ID=s')).toEqual(wanted)
  expect(read('https://c.org/take?PROLIFIC_PID=p%201#Ab-_1&STUDY_ID=s')).toEqual(wanted)
})

test('an address without parameters is that of a plain link', () => {
  expect(read('https://c.org/take#Ab')).toEqual({ token: 'Ab', query: {} })
  expect(read('https://c.org/take')).toEqual({ token: '', query: {} })
})

test('the address for a platform has its placeholders', () => {
  expect(platformAddress('https://c.org', 'T', 'prolific', NAMES)).toBe(
    'https://c.org/take?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}#T',
  )
  expect(platformAddress('https://c.org', 'T', 'other', { id: 'pid', study: '', session: '' })).toBe('https://c.org/take?pid=ID#T')
  expect(platformAddress('https://c.org', 'T', 'mturk', NAMES)).toBe('https://c.org/take#T')
})
