import { describe, expect, it } from 'vitest'
import { begin, facts, fates, missing, quote, reduce, resume, toValue, type Action, type Card, type Modality, type Polarity, type State } from './state.ts'

const TEXTS = {
  pooled: 'The pooled evidence confirmed that, compared with ranibizumab, bevacizumab was associated with equivalent effects on visual acuity at 1 year and with a higher risk of systemic serious adverse events.',
  neither: 'Neither H. pylori infection nor seropositivity for virulent CagA-bearing H. pylori strains have significant association with the occurrence of glaucoma of any type.',
  icare: "Although the manufacturer advertises the Icare® PRO as a 'tonometer with superior accuracy', the present review could neither confirm nor deny considerable agreement between Goldmann applanation tonometry and Icare® PRO in glaucomatous patients.",
  noninferior: 'Bevacizumab was noninferior to ranibizumab for visual acuity at 1 year with similar safety profiles.',
}
const card = (text: string, more: Partial<Card> = {}): Card => ({
  assignment: 1, kind: 'label', revision: 0, shown: 1, position: 0, unit: { id: 1, key: 'k', unit_name: 'k' }, answered_at: null,
  outcome: null, comment: '', flag: false, references: [], text, role: 'input', pico: [], context: { key: 'c', index: 1, size: 1 },
  candidates: null, asks_cues: true, value: null, ...more,
})

const VALUES: Record<string, Action> = {
  a: { do: 'polarity', value: 'positive', by: 'key' },
  s: { do: 'polarity', value: 'no effect', by: 'key' },
  d: { do: 'polarity', value: 'negative', by: 'key' },
  '1': { do: 'modality', value: 'strong', by: 'key' },
  '2': { do: 'modality', value: 'moderate', by: 'key' },
  '3': { do: 'modality', value: 'weak', by: 'key' },
  '4': { do: 'modality', value: 'no evidence', by: 'key' },
}

/** Plays keys as the page's key table does: "f e" jumps, "S→" extends. */
function play(text: string, keys: string, from?: State, more: Partial<Card> = {}, revisit = false) {
  const f = facts(card(text, more), revisit)
  let state = from ?? begin(text)
  for (const key of keys.split(' ').filter(Boolean)) {
    if (state.complete) throw new Error(`complete before ${key}`)
    const cursor = state.selection.cursor
    const action: Action = state.finding && key.length === 1
      ? { do: 'letter', letter: key, extend: false }
      : VALUES[key] ?? ({
          f: { do: 'find', extend: false }, '→': { do: 'move', to: cursor + 1, extend: false },
          'S→': { do: 'move', to: cursor + 1, extend: true }, Home: { do: 'move', to: 0, extend: false }, space: { do: 'keep' },
          esc: { do: 'let go' }, z: { do: 'undo' }, enter: { do: 'next' }, back: { do: 'remove here' }, n: { do: 'candidate' },
          ',': { do: 'adjust', edge: 'end', by: -1 },
        } as Record<string, Action>)[key]!
    state = reduce(f, state, action)
  }
  return { f, state, polarityCue: quote(text, state.polarityCue), modalityCue: quote(text, state.modalityCue) }
}

describe('the label reducer', () => {
  it('is done with two values where no cue is asked for, and selects nothing', () => {
    const { state, f } = play(TEXTS.pooled, 'f S→ s', undefined, { asks_cues: false })
    expect(state.selection).toEqual(begin(TEXTS.pooled).selection)
    const done = reduce(f, state, VALUES['1']!)
    expect(done.complete).toBe(true)
    expect(toValue(f, done)).toEqual({ polarity: 'no effect', modality: 'strong', polarity_cue: [], modality_cue: [] })
    expect(play(TEXTS.icare, '4', undefined, { asks_cues: false }).state).toMatchObject({ polarity: 'n/a', complete: true })
  })

  it('check 1: F e, F e, Shift+Right, S, 2 gives two values and "equivalent effects", and is complete', () => {
    const { state, polarityCue, f } = play(TEXTS.pooled, 'f e f e S→ s 2')
    expect(state).toMatchObject({ polarity: 'no effect', modality: 'moderate', complete: true })
    expect(polarityCue).toBe('equivalent effects')
    const start = TEXTS.pooled.indexOf('equivalent effects')
    expect(toValue(f, state)).toEqual({
      polarity: 'no effect', modality: 'moderate', modality_cue: [],
      polarity_cue: [{ start, end: start + 18, quote: 'equivalent effects' }],
    })
  })

  it('sets the value alone where the cursor has not been moved', () => {
    const { state } = play(TEXTS.pooled, 's')
    expect(state).toMatchObject({ polarity: 'no effect', polarityCue: [], complete: false })
  })

  it('takes two pieces in order, Space first', () => {
    expect(play(TEXTS.neither, 'Home space f h f h f h S→ S→ s').polarityCue).toBe('Neither … have significant association')
  })

  it('moves on without a modality cue for moderate only', () => {
    expect(play(TEXTS.neither, 'f h s 2').state.complete).toBe(true)
    const waits = play(TEXTS.neither, 'f h s 3').state
    expect(waits.complete).toBe(false)
    expect(waits.nudge).toBe("No modality cue for 'weak'. Select it and choose the value again, or press Enter.")
  })

  it('waits for an expected polarity cue, and Enter goes on without', () => {
    const waits = play(TEXTS.pooled, '3 a').state
    expect(waits.nudge).toMatch(/^No polarity cue for 'positive'/)
    expect(play(TEXTS.pooled, 'enter', waits).state.complete).toBe(true)
  })

  it('completes when the nudged cue is selected and its key pressed', () => {
    const { state, modalityCue } = play(TEXTS.noninferior, 'f n s 3 f w 3')
    expect(state.complete).toBe(true)
    expect(modalityCue).toBe('with')
  })

  it('says which value is missing on Enter', () => {
    expect(play(TEXTS.pooled, 'enter').state.nudge).toMatch(/^Polarity is not chosen/)
    expect(play(TEXTS.pooled, 'a enter').state.nudge).toMatch(/^Modality is not chosen/)
  })

  it('check 5: no evidence sets n/a, n/a sets no evidence, and either other value takes both back', () => {
    const none = play(TEXTS.icare, 'f c S→ 4')
    expect(none.state).toMatchObject({ polarity: 'n/a', modality: 'no evidence', polarityCue: [], complete: true })
    const waits = play(TEXTS.icare, '4').state
    expect(waits).toMatchObject({ polarity: 'n/a', modality: 'no evidence', complete: false })
    expect(play(TEXTS.icare, 'a', waits).state).toMatchObject({ polarity: 'positive', modality: '', modalityCue: [] })
    expect(play(TEXTS.icare, '3', waits).state).toMatchObject({ polarity: '', modality: 'weak' })
    const f = facts(card(TEXTS.icare), false)
    expect(reduce(f, begin(TEXTS.icare), { do: 'polarity', value: 'n/a', by: 'click' })).toMatchObject({ polarity: 'n/a', modality: 'no evidence' })
  })

  it('check 5: no evidence removes the polarity cue, and a polarity key then removes its cue', () => {
    const { state } = play(TEXTS.icare, 'f c a f n 4')
    expect(state).toMatchObject({ polarityCue: [], complete: true })
    expect(play(TEXTS.icare, 'd', { ...state, complete: false }).state).toMatchObject({ polarity: 'negative', modality: '', modalityCue: [] })
  })

  it('check 5: no order of keys gives n/a without no evidence, or the reverse', () => {
    const f = facts(card(TEXTS.pooled, { candidates: [{ start: 4, end: 10 }] }), false)
    let seed = 11
    const random = (n: number) => (seed = (seed * 48271) % 2147483647) % n
    const polarities: Polarity[] = ['positive', 'no effect', 'negative', 'n/a']
    const modalities: Modality[] = ['strong', 'moderate', 'weak', 'no evidence']
    const bys = ['key', 'click', 'arrow'] as const
    const actions: (() => Action)[] = [
      () => ({ do: 'polarity', value: polarities[random(4)]!, by: bys[random(3)]! }),
      () => ({ do: 'modality', value: modalities[random(4)]!, by: bys[random(3)]! }),
      () => ({ do: 'move', to: random(40) - 3, extend: random(2) === 1 }),
      () => ({ do: 'keep' }), () => ({ do: 'undo' }), () => ({ do: 'next' }), () => ({ do: 'remove here' }), () => ({ do: 'candidate' }),
      () => ({ do: 'remove', aspect: random(2) ? 'polarity' : 'modality' }), () => ({ do: 'let go' }),
      () => ({ do: 'adjust', edge: random(2) ? 'start' : 'end', by: random(2) ? 1 : -1 }),
      () => ({ do: 'letter', letter: 'e', extend: random(2) === 1 }), () => ({ do: 'tap', word: random(20) }),
      () => ({ do: 'drag', range: { start: random(90), end: 90 + random(90) }, characters: random(2) === 1, keepEarlier: random(2) === 1 }),
    ]
    for (let run = 0; run < 300; run++) {
      let state = begin(TEXTS.pooled)
      for (let i = 0; i < 40; i++) {
        state = reduce(f, state, actions[random(actions.length)]!())
        expect(state.polarity === 'n/a').toBe(state.modality === 'no evidence')
        if (state.polarity === 'n/a') expect(state.polarityCue).toEqual([])
        for (const r of [...state.polarityCue, ...state.modalityCue]) {
          expect(r.start).toBeGreaterThanOrEqual(0)
          expect(r.end).toBeGreaterThan(r.start)
          expect(r.end).toBeLessThanOrEqual(TEXTS.pooled.length)
        }
        if (state.complete) {
          expect(missing(state)).not.toBe('value')
          for (const c of [...toValue(f, state).polarity_cue!, ...toValue(f, state).modality_cue!])
            expect([...TEXTS.pooled].slice(c.start, c.end).join('')).toBe(c.quote)
          state = resume(state.trail)
        }
      }
    }
  })

  it('check 6: an arrow key in a radio group chooses but never moves on', () => {
    const { f, state } = play(TEXTS.pooled, 'f e s')
    let now = state
    for (const v of ['moderate', 'strong', 'weak', 'no evidence', 'moderate'] as const) {
      now = reduce(f, now, { do: 'modality', value: v, by: 'arrow' })
      expect(now).toMatchObject({ modality: v, complete: false })
    }
    for (const v of ['negative', 'n/a', 'positive'] as const) {
      now = reduce(f, now, { do: 'polarity', value: v, by: 'arrow' })
      expect(now).toMatchObject({ polarity: v, complete: false })
    }
  })

  it('says Enter goes on when arrows have completed it, and a click moves on when complete', () => {
    const { f, state } = play(TEXTS.pooled, 'f e s')
    expect(reduce(f, state, { do: 'modality', value: 'moderate', by: 'arrow' }).nudge).toBe('Complete. Press Enter to continue.')
    expect(reduce(f, state, { do: 'modality', value: 'moderate', by: 'click' }).complete).toBe(true)
  })

  it('check 7: undo after completion brings back all but the last step, selection included', () => {
    const done = play(TEXTS.neither, 'f h s 2').state
    const again = resume(done.trail)
    expect(again).toMatchObject({ polarity: 'no effect', modality: '', complete: false })
    expect(quote(TEXTS.neither, again.polarityCue)).toBe('H')
    const earlier = play(TEXTS.neither, 'z', again).state
    expect(earlier).toMatchObject({ polarity: '', polarityCue: [] })
    expect(play(TEXTS.neither, 'd', earlier).polarityCue).toBe('H')
    expect(resume(play(TEXTS.pooled, '3 a enter').state.trail)).toMatchObject({ polarity: 'positive', modality: 'weak', complete: false })
  })

  it('gives one selection to both aspects', () => {
    const { state } = play(TEXTS.noninferior, 'f n a f n 3')
    expect(state.complete).toBe(true)
    expect(state.polarityCue).toEqual(state.modalityCue)
  })

  it('replaces a cue by a new selection, keeps it with a value key alone, deletes it with Backspace', () => {
    expect(play(TEXTS.pooled, 'f e s f h d').polarityCue).toBe('higher')
    const changed = play(TEXTS.pooled, 'f e s d')
    expect(changed.polarityCue).toBe('evidence')
    expect(changed.state.polarity).toBe('negative')
    const gone = play(TEXTS.pooled, 'f e s back')
    expect(gone.polarityCue).toBe('')
    expect(play(TEXTS.pooled, 'z', gone.state).polarityCue).toBe('evidence')
    expect(play(TEXTS.pooled, 'f e s → back').polarityCue).toBe('evidence')
  })

  it('takes a cue off a word edge by characters', () => {
    expect(play(TEXTS.pooled, 'f e , , s').polarityCue).toBe('eviden')
  })

  it('steps through candidates and counts what became of them', () => {
    const start = TEXTS.pooled.indexOf('equivalent')
    const candidates = [{ start: 4, end: 10 }, { start, end: start + 10 }, { start: 0, end: 3 }]
    const { state, f, polarityCue } = play(TEXTS.pooled, 'n n s', undefined, { candidates })
    expect(polarityCue).toBe('equivalent')
    expect(toValue(f, { ...state, modality: 'moderate' }).suggestions).toEqual({ accepted: 1, edited: 0, rejected: 2 })
    expect(fates(candidates, [{ start: 4, end: 20 }])).toEqual({ accepted: 0, edited: 1, rejected: 2 })
    expect(play(TEXTS.pooled, 'n').state.selection.anchor).toBeNull()
  })

  it('lets only Enter move on from an answer that was taken out again', () => {
    const value = toValue(facts(card(TEXTS.pooled), false), play(TEXTS.pooled, 'f e s 2').state)
    const { state } = play(TEXTS.pooled, 'd', begin(TEXTS.pooled, value), {}, true)
    expect(state).toMatchObject({ polarity: 'negative', complete: false, nudge: 'Press Enter to save the change.' })
    expect(quote(TEXTS.pooled, state.polarityCue)).toBe('evidence')
    expect(play(TEXTS.pooled, 'enter', state, {}, true).state.complete).toBe(true)
  })

  it('takes nothing more once it is complete: the answer is on its way', () => {
    const { f, state } = play(TEXTS.pooled, 'f e s 2')
    expect(state.complete).toBe(true)
    const keys: Action[] = [VALUES['4']!, VALUES.a!, { do: 'undo' }, { do: 'remove here' }, { do: 'next' }]
    for (const key of keys) expect(reduce(f, state, key)).toBe(state)
  })

  it('converts cues behind an astral letter in code points, there and back', () => {
    const text = 'TGF-𝛽 was not raised'
    const { f, state } = play(text, 'f n s 2')
    const value = toValue(f, state)
    expect(value.polarity_cue).toEqual([{ start: 10, end: 13, quote: 'not' }])
    expect(quote(text, begin(text, value).polarityCue)).toBe('not')
  })
})
