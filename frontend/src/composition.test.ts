import { expect, it } from 'vitest'
import { guardComposition } from './composition.ts'

it('lets no handler see a key that belongs to a composition', () => {
  const target = new EventTarget()
  guardComposition(target)
  let seen = 0
  target.addEventListener('keydown', () => seen++)
  const press = (about: object) => target.dispatchEvent(Object.assign(new Event('keydown', { cancelable: true }), about))
  press({ key: 'Enter', isComposing: true, keyCode: 13 })
  press({ key: 'Enter', isComposing: false, keyCode: 229 })
  expect(seen).toBe(0)
  press({ key: 'Enter', isComposing: false, keyCode: 13 })
  expect(seen).toBe(1)
})

it('neither submits a form nor closes a dialog by a key that an input method passes on', () => {
  const target = new EventTarget()
  guardComposition(target)
  const happens = (type: string, about: object = {}) => target.dispatchEvent(Object.assign(new Event(type, { cancelable: true }), about))
  happens('keydown', { key: 'Escape', isComposing: true, keyCode: 27 })
  expect(happens('keypress', { key: 'Enter', isComposing: true, keyCode: 13 })).toBe(false)
  expect(happens('cancel')).toBe(false)
  happens('keyup')
  expect(happens('keypress', { key: 'Enter', isComposing: false, keyCode: 13 })).toBe(true)
  expect(happens('cancel')).toBe(true)
})
