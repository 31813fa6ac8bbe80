import { expect, it } from 'vitest'

import { fileName } from '../components/format.ts'
import { latexFigure, latexTable } from './latex.ts'

const table = (header: string[], rows: (string | number | null)[][]) => latexTable({ name: 'Pilot 1', caption: 'Pairs', header, rows })

it('writes a figure for a paper, by the name that its file is saved by', () => {
  const text = latexFigure({ file: 'Pilot 1 polarity: 95 %', caption: 'Agreement, 95 % interval_', wide: false })
  expect(text).toContain(`\\includegraphics[width=\\linewidth]{${fileName('Pilot 1 polarity: 95 %', 'png').replace('.png', '')}}`)
  expect(text).toContain('\\caption{Agreement, 95 \\% interval\\_}')
  expect(text).toContain('\\label{fig:pilot-1-polarity-95}')
  expect(latexFigure({ file: 'a', caption: 'a', wide: true })).toContain('\\end{figure*}')
})

it('writes a table for a paper in which nothing is a command', () => {
  const text = table(['A & B', 'n'], [['[50 %]_1', 1234], ['−', null]])
  expect(text).toContain('\\begin{tabular}{lr}')
  expect(text).toContain('A \\& B & n \\\\')
  expect(text).toContain('{[}50 \\%{]}\\_1 & 1234 \\\\')
  expect(text).toContain('$-$ & -- \\\\')
  expect(text).toContain('\\caption{Pairs.}\n\\label{tab:pilot-1}')
})

it('prints an interval in one column, and none that is empty', () => {
  const text = table(['Pair', 'Kappa', 'CI low', 'CI high', 'Undefined because'], [['a', 0.5, -1, 0.25, null], ['b', null, null, null, null]])
  expect(text).toContain('\\begin{tabular}{lrr}')
  expect(text).toContain('Pair & Kappa & CI \\\\')
  expect(text).toContain('a & 0.500 & {[}$-$1, 0.250{]} \\\\')
  expect(text).toContain('b & -- & -- \\\\')
})

it('says below once what is the same in every row', () => {
  const text = table(['Pair', 'n', 'Method'], [['a', 3, 'Cohen kappa'], ['b', 3, 'Cohen kappa']])
  expect(text).toContain('\\begin{tabular}{lr}')
  expect(text).toContain('\\footnotesize\nMethod: Cohen kappa.\\par')
  expect(table(['Pair', 'Method'], [['a', 'Cohen kappa']])).toContain('\\begin{tabular}{ll}')
})

it('goes across both columns where one is too narrow, in lines where words are long, and over several pages where one is too short', () => {
  expect(table(['Pair', 'n'], [['a', 1]])).toContain('\\begin{table}')
  const long = table(['Unit', 'Text'], Array.from({ length: 60 }, (_, i) => [`u${i}`, `${i} ${'words '.repeat(12)}`]))
  expect(long).toContain('\\begin{tabular}{l>{\\raggedright\\arraybackslash}p{20em}}')
  expect(long.match(/\\begin\{table/g)).toHaveLength(3)
  expect(long.match(/continued/g)).toHaveLength(2)
  expect(long.match(/^u\d+ &/gm)).toHaveLength(60)
  const wide = table(Array.from({ length: 9 }, (_, i) => `Figure ${i}`), [Array.from({ length: 9 }, () => 0.123)])
  expect(wide).toContain('\\begin{table*}')
})
