// @vitest-environment jsdom
import { describe, expect, it } from 'vitest'
import { keyOf, match, placeOf, type Binding, type Place } from './keymap.ts'

const TABLE: Binding[] = [
  { keys: ['a'], command: 'positive', says: '', shown: 'A', settles: true },
  { keys: ['1'], command: 'strong', says: '', shown: '1' },
  { keys: ['ArrowRight'], command: 'right', says: '', shown: '→', repeats: true },
  { keys: [' '], command: 'keep', says: '', shown: 'Space' },
  { keys: ['z', 'Ctrl+z'], command: 'undo', says: '', shown: 'Z' },
  { keys: ['Enter'], command: 'next', says: '', shown: 'Enter' },
  { keys: ['!'], command: 'flag', says: '', shown: '!' },
  { keys: ['<'], command: 'start', says: '', shown: '<' },
]
const on = { place: 'elsewhere' as Place, singleKeys: true }
const does = (press: Parameters<typeof match>[1], at = on) => match(TABLE, press, at)?.command ?? null

describe('keymap', () => {
  it('knows letters in either case and leaves modified keys to the browser', () => {
    expect(does({ key: 'a' })).toBe('positive')
    expect(does({ key: 'A', shiftKey: true })).toBe('positive')
    expect(does({ key: 'a', ctrlKey: true })).toBeNull()
    expect(does({ key: 'a', altKey: true })).toBeNull()
    expect(does({ key: 'z', ctrlKey: true })).toBe('undo')
    expect(does({ key: 'z', metaKey: true })).toBe('undo')
    expect(does({ key: 'Z', ctrlKey: true, shiftKey: true })).toBeNull()
  })

  it('finds digits on a French row and letters on a Greek or Russian keyboard', () => {
    expect(keyOf({ key: '&', code: 'Digit1' })).toBe('1')
    expect(keyOf({ key: 'é', code: 'Digit2' })).toBe('2')
    expect(keyOf({ key: '!', code: 'Digit1', shiftKey: true })).toBe('!')
    expect(keyOf({ key: 'ф', code: 'KeyA' })).toBe('a')
    expect(does({ key: '<', code: 'Comma', shiftKey: true })).toBe('start')
  })

  it('is inert in text fields, and single characters are with the switch off', () => {
    for (const b of TABLE) expect(does({ key: b.keys[0]! }, { place: 'text field', singleKeys: true })).toBeNull()
    const off = { place: 'elsewhere' as Place, singleKeys: false }
    for (const key of ['a', '1', 'z', '!', '<']) expect(does({ key }, off)).toBeNull()
    expect(does({ key: 'Enter' }, off)).toBe('next')
    expect(does({ key: 'z', ctrlKey: true }, off)).toBe('undo')
    expect(does({ key: ' ' }, off)).toBe('keep')
  })

  it('leaves arrows to radio groups, Enter and Space to buttons, and acts on letters there', () => {
    expect(does({ key: 'ArrowRight' }, { place: 'radio', singleKeys: true })).toBeNull()
    expect(does({ key: 'a' }, { place: 'radio', singleKeys: true })).toBe('positive')
    expect(does({ key: 'Enter' }, { place: 'button', singleKeys: true })).toBeNull()
    expect(does({ key: 'Enter' }, { place: 'radio', singleKeys: true })).toBe('next')
  })

  it('repeats a held key only where that is harmless', () => {
    expect(does({ key: 'ArrowRight', repeat: true })).toBe('right')
    expect(does({ key: '1', repeat: true })).toBeNull()
    expect(does({ key: 'Enter', repeat: true })).toBeNull()
  })

  it('knows where the focus is', () => {
    document.body.innerHTML = '<input type=radio><input><textarea></textarea><button></button><div></div>'
    expect([...document.body.children].map(placeOf)).toEqual(['radio', 'text field', 'text field', 'button', 'elsewhere'])
    expect(placeOf(null)).toBe('elsewhere')
  })
})
