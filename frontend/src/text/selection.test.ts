import { describe, expect, it } from 'vitest'
import { adjust, clear, drag, jump, keep, moveEnd, moveTo, emptySelection, piece, selected, take, tap } from './selection.ts'
import { words } from './words.ts'

const TEXT = 'Neither infection nor strains have significant association with glaucoma.'
const W = words(TEXT)
const quotes = (s: Parameters<typeof selected>[0], text = TEXT, all = W) => selected(s, all).map((r) => text.slice(r.start, r.end))

describe('selection', () => {
  it('selects nothing before the cursor is moved', () => {
    expect(selected(emptySelection, W)).toEqual([])
    expect(piece(emptySelection, W)).toBeNull()
  })

  it('moves word by word, extends with Shift and stays inside the text', () => {
    let s = moveTo(emptySelection, W, 1, false)
    expect(quotes(s)).toEqual(['infection'])
    s = moveTo(s, W, 2, true)
    expect(quotes(s)).toEqual(['infection nor'])
    expect(quotes(moveTo(s, W, 0, true))).toEqual(['Neither infection'])
    expect(moveTo(s, W, -4, false).cursor).toBe(0)
    expect(moveTo(s, W, 99, false).cursor).toBe(W.length - 1)
  })

  it('extends from the first word where nothing was selected yet', () => {
    expect(quotes(moveTo(emptySelection, W, 1, true))).toEqual(['Neither infection'])
  })

  it('jumps to the next word that begins with a letter, around the end, and extends to it', () => {
    let s = jump(emptySelection, TEXT, W, 's', false)
    expect(quotes(s)).toEqual(['strains'])
    s = jump(s, TEXT, W, 'S', false)
    expect(quotes(s)).toEqual(['significant'])
    expect(quotes(jump(s, TEXT, W, 'a', true))).toEqual(['significant association'])
    expect(quotes(jump(s, TEXT, W, 'n', false))).toEqual(['Neither'])
    expect(jump(s, TEXT, W, 'z', false)).toBe(s)
  })

  it('keeps a piece and selects another: two pieces in order', () => {
    let s = keep(emptySelection, W)
    expect(quotes(s)).toEqual(['Neither'])
    s = moveTo(s, W, 4, false)
    s = moveTo(s, W, 6, true)
    expect(quotes(s)).toEqual(['Neither', 'have significant association'])
    expect(quotes(clear(s))).toEqual([])
  })

  it('adjusts both edges by characters and never to nothing', () => {
    let s = moveTo(emptySelection, W, 0, false)
    for (let i = 0; i < 20; i++) s = adjust(s, TEXT, W, 'end', -1)
    expect(quotes(s)).toEqual(['N'])
    s = adjust(s, TEXT, W, 'end', 1)
    expect(quotes(s)).toEqual(['Ne'])
    expect(quotes(adjust(s, TEXT, W, 'start', -1))).toEqual(['Ne'])
    expect(quotes(adjust(s, TEXT, W, 'start', 1))).toEqual(['e'])
    expect(adjust(emptySelection, TEXT, W, 'end', 1)).toBe(emptySelection)
  })

  it('adjusts over an astral letter whole', () => {
    const text = 'TGF-𝛽 rose', all = words(text)
    const s = adjust(moveTo(emptySelection, all, 0, false), text, all, 'end', -1)
    expect(quotes(s, text, all)).toEqual(['TGF-'])
  })

  it('snaps a drag to words, or takes the characters, and can keep the earlier piece', () => {
    const from = TEXT.indexOf('gnificant'), to = TEXT.indexOf('sociation')
    expect(quotes(drag(emptySelection, W, { start: from, end: to }))).toEqual(['significant association'])
    expect(quotes(drag(emptySelection, W, { start: from, end: from + 4 }, { characters: true }))).toEqual(['gnif'])
    const first = drag(emptySelection, W, { start: 0, end: 3 })
    expect(quotes(drag(first, W, { start: from, end: to }, { keepEarlier: true }))).toEqual(['Neither', 'significant association'])
    expect(quotes(drag(first, W, { start: from, end: to }))).toEqual(['significant association'])
  })

  it('takes a candidate exactly, whole words or not', () => {
    expect(quotes(take(emptySelection, W, W[5]!))).toEqual(['significant'])
    expect(take(emptySelection, W, W[5]!).exact).toBeNull()
    expect(quotes(take(emptySelection, W, { start: 1, end: 5 }))).toEqual(['eith'])
  })

  it('works by taps: take, extend either way, start again inside, let go', () => {
    let s = tap(emptySelection, W, 4)
    expect(quotes(s)).toEqual(['have'])
    expect(quotes(tap(s, W, 4))).toEqual([])
    s = tap(s, W, 6)
    expect(quotes(s)).toEqual(['have significant association'])
    s = tap(s, W, 3)
    expect(quotes(s)).toEqual(['strains have significant association'])
    expect(quotes(tap(s, W, 5))).toEqual(['significant'])
  })

  it('drags either end without letting the ends cross', () => {
    const s = moveTo(moveTo(emptySelection, W, 4, false), W, 6, true)
    expect(quotes(moveEnd(s, W, 'start', 5))).toEqual(['significant association'])
    expect(quotes(moveEnd(s, W, 'start', 8))).toEqual(['association'])
    expect(quotes(moveEnd(s, W, 'end', 2))).toEqual(['have'])
    expect(quotes(moveEnd(s, W, 'end', 7))).toEqual(['have significant association with'])
  })

  it('survives a text without words', () => {
    expect(selected(moveTo(emptySelection, [], 3, true), [])).toEqual([])
    expect(keep(emptySelection, [])).toBe(emptySelection)
    expect(jump(emptySelection, '', [], 'a', false)).toBe(emptySelection)
  })
})
