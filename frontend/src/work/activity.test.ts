import { expect, it } from 'vitest'
import { Activity } from './activity.ts'

it('counts time between inputs, at most a minute of it, and none while hidden', () => {
  let now = 1000
  const a = new Activity(() => now)
  now += 5000
  a.touch()
  expect(a.ms).toBe(5000)
  now += 10 * 60_000
  a.touch()
  expect(a.ms).toBe(65_000)
  now += 2000
  a.hide()
  now += 3_600_000
  expect(a.ms).toBe(67_000)
  a.show()
  now += 500
  expect(a.ms).toBe(67_500)
  a.restart(100)
  now += 20
  expect(a.ms).toBe(120)
})
