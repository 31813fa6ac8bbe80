import { describe, expect, it } from 'vitest'
import { format, parse } from './tsv.ts'

describe('cells from a spreadsheet', () => {
  it('come apart at tabs and lines, whatever ends the lines', () => {
    const cells = [['a', 'b'], ['c', 'd']]
    expect(parse('a\tb\nc\td')).toEqual(cells)
    expect(parse('a\tb\r\nc\td\r\n')).toEqual(cells)
    expect(parse('a\tb\rc\td')).toEqual(cells)
  })

  it('keep tabs, lines and quotes inside quotes', () => {
    expect(parse('"one\r\ntwo"\t"a ""word"""\r\n"x\ty"\tz\r\n')).toEqual([['one\ntwo', 'a "word"'], ['x\ty', 'z']])
  })

  it('keep quotes that are only text', () => {
    expect(parse('"Neither" was found\tx')).toEqual([['"Neither" was found', 'x']])
    expect(parse('"open\tnext\nline')).toEqual([['"open', 'next'], ['line']])
    expect(parse('5" tall\ty')).toEqual([['5" tall', 'y']])
  })

  it('keep empty cells and empty rows, but make none of the last line break', () => {
    expect(parse('\t\n\na\t')).toEqual([['', ''], [''], ['a', '']])
    expect(parse('a\t\nb')).toEqual([['a', ''], ['b']])
    expect(parse('')).toEqual([])
  })

  it('survive the way out and back', () => {
    const cells = [['a\tb', 'say "so"', '"x"'], ['', 'two\nlines', ' ']]
    expect(parse(format(cells))).toEqual(cells)
  })
})
