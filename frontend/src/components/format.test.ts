import { expect, it } from 'vitest'
import { age, bytes, count, counted, csv, decimal, duration, fileName, interval, listed, percent, pValue } from './format.ts'

it('prints counts with their noun', () => {
  expect(count(2292)).toBe('2,292')
  expect(counted(1, 'answer')).toBe('1 answer')
  expect(counted(0, 'study', 'studies')).toBe('0 studies')
})

it('prints decimals with a real minus, never minus nothing, and a dash for what is undefined', () => {
  expect(decimal(-0.5)).toBe('−0.50')
  expect(decimal(-0.001)).toBe('0.00')
  expect(decimal(null)).toBe('–')
  expect(decimal(Number.NaN)).toBe('–')
  expect(interval([-0.1, 0.92])).toBe('[−0.10, 0.92]')
  expect(interval(null)).toBe('')
})

it('never rounds a share to all or nothing', () => {
  expect(percent(1)).toBe('100%')
  expect(percent(0.999)).toBe('> 99%')
  expect(percent(0.001)).toBe('< 1%')
  expect(percent(0)).toBe('0%')
  expect(percent(null)).toBe('–')
})

it('prints sizes', () => {
  expect(bytes(999)).toBe('999 B')
  expect(bytes(1171404)).toBe('1.2 MB')
  expect(bytes(999_999)).toBe('1.0 MB')
  expect(bytes(52_000)).toBe('52 kB')
})

it('prints times', () => {
  expect(duration(35)).toBe('35 s')
  expect(duration(59.6)).toBe('1 min')
  expect(duration(3900)).toBe('1 h 05 min')
  expect(duration(null)).toBe('–')
})

it('lists in words', () => {
  expect(listed([])).toBe('')
  expect(listed(['a'])).toBe('a')
  expect(listed(['a', 'b', 'c'])).toBe('a, b and c')
})

it('writes CSV that a spreadsheet reads back and does not run', () => {
  expect(csv(['name', 'n'], [['a "b", c', 1], ['=SUM(A1)', null]])).toBe('name,n\r\n"a ""b"", c",1\r\n\'=SUM(A1),\r\n')
})

it('leaves numbers in CSV as they are, negative ones too', () => {
  expect(csv(['v'], [[-0.25]])).toBe('v\r\n-0.25\r\n')
})

it('makes file names out of words', () => {
  expect(fileName('Reliability study: polarity', 'svg')).toBe('reliability-study-polarity.svg')
  expect(fileName('…', 'csv')).toBe('file.csv')
})

it('prints p as papers do, never as 0', () => {
  expect([0.0069, 0.23, 0.00004, 0.9999, null].map(pValue)).toEqual(['p = .007', 'p = .23', 'p < .001', 'p = 1', 'p –'])
})

it('prints the time since a moment in one unit', () => {
  const now = Date.parse('2026-11-25T14:00:00Z')
  expect(age('2026-11-25T13:59:30Z', now)).toBe('now')
  expect(age('2026-11-25T13:55:00Z', now)).toBe('5 min')
  expect(age('2026-11-25T11:00:00Z', now)).toBe('3 h')
  expect(age('2026-11-24T13:00:00Z', now)).toBe('1 day')
  expect(age('2026-11-21T13:00:00Z', now)).toBe('4 days')
})
