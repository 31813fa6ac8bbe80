import { expect, it } from 'vitest'
import { pace, withSample, type Sample } from './pace.ts'

const play = (...given: [seconds: number, bytes: number, phase?: string][]) =>
  given.reduce<Sample[]>((all, [seconds, bytes, phase = 'reading']) => withSample(all, { at: seconds * 1000, bytes, rows: bytes / 10, phase }), [])

it('measures the last minute of the current phase only', () => {
  expect(pace(play([0, 0]), 1000)).toBeNull()
  expect(pace(play([0, 0], [10, 100]), 1000)).toEqual({ rate: 1, left: 90 })
  // Half the speed for the last minute, after a fast start.
  expect(pace(play([0, 0], [10, 400], [70, 700], [71, 700]), 1000)).toBeNull()
  expect(pace(play([0, 0], [10, 400], [60, 650], [80, 750]), 1000)).toEqual({ rate: 0.5, left: 50 })
  expect(pace(play([0, 500], [10, 900], [20, 0, 'finishing'], [30, 100, 'finishing']), 1000)?.left).toBe(90)
  // A worker that continues.
  expect(pace(play([0, 500], [10, 400], [20, 500]), 1000)?.left).toBe(50)
})
