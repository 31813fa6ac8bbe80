import { describe, expect, it } from 'vitest'
import { choicesOf, valuesOf, type Parameter } from './parameters.ts'

const cues = { name: 'cues', takes: 'choice', default: 'overlap', choices: ['exact', 'overlap'], words: ['are the same', 'overlap'] } as unknown as Parameter

describe('what a kind declares', () => {
  it('has words for its choices, or the choices themselves', () => {
    expect(choicesOf(cues)).toEqual([['exact', 'are the same'], ['overlap', 'overlap']])
    expect(choicesOf({ ...cues, words: [] })).toEqual([['exact', 'exact'], ['overlap', 'overlap']])
  })
  it('is sent with its defaults, and nothing of another kind', () => {
    expect(valuesOf([cues], {})).toEqual({ cues: 'overlap' })
    expect(valuesOf([cues], { cues: 'exact', suggestions: true })).toEqual({ cues: 'exact' })
  })
})
