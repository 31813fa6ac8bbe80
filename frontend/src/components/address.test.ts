// @vitest-environment jsdom
import { beforeEach, expect, it } from 'vitest'
import { readParam, writeParams } from './address.ts'

beforeEach(() => history.replaceState(null, '', '/outputs?level=proposition&position=3#unit'))

it('keeps what is named, leaves the rest, and takes out what is empty', () => {
  writeParams({ versions: '1,8', position: '' })
  expect(location.pathname + location.search + location.hash).toBe('/outputs?level=proposition&versions=1,8#unit')
  expect([readParam('versions'), readParam('position')]).toEqual(['1,8', ''])
})

it('makes no step of the history', () => {
  const before = history.length
  writeParams({ position: 4 })
  expect(history.length).toBe(before)
})
