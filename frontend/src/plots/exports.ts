/** Exports of a figure and its numbers, ready for a paper. */

import { copyText } from '../components/copyText.ts'
import type { Ways } from '../components/Export.svelte'
import { csv, fileName } from '../components/format.ts'
import { latexFigure, latexTable } from './latex.ts'
import { save, saveBlob } from '../components/save.ts'
import { bitmap, type Theme } from './picture.ts'

/** Width of one column of a paper in millimetres; wider figures span both columns. */
const COLUMN = 90

interface Drawing {
  title: string
  /** Note below the figure. */
  note?: string
  /** Name of the files. */
  name: string
  /** The figure as an SVG file. */
  svg: (theme?: Theme) => string
  /** The figure as a Vega-Lite specification. */
  spec?: object
}

export function drawing({ title, note = '', name, svg, spec }: Drawing): Ways {
  async function png() {
    try {
      saveBlob(fileName(name, 'png'), await bitmap(svg()))
      return ''
    } catch {
      return 'This browser cannot create a PNG. Save the SVG.'
    }
  }
  const wide = () => Number(/width="([\d.]+)mm"/.exec(svg())?.[1] ?? 0) > COLUMN
  const figure = () => copyText(latexFigure({ file: name, caption: [title, note].filter(Boolean).join('. '), wide: wide() }), 'Save the PNG.')
  return {
    name: 'Figure',
    ways: [
      { words: 'Copy as SVG', do: () => copyText(svg(), 'Save the SVG.') },
      { words: 'Save as SVG', do: () => (save(fileName(name, 'svg'), svg(), 'image/svg+xml'), '') },
      { words: 'Save as SVG, dark', do: () => (save(fileName(name, 'svg'), svg('dark'), 'image/svg+xml'), '') },
      { words: 'Save as PNG', do: png },
      ...(spec ? [{ words: 'Save as Vega-Lite', do: () => (save(fileName(name, 'vl.json'), `${JSON.stringify(spec, null, 1)}\n`, 'application/json'), '') }] : []),
      { words: 'Copy LaTeX figure', do: figure },
    ],
  }
}

type Rows = readonly (readonly (string | number | null)[])[]

/** Exports of the numbers: unrounded in CSV, to three places in LaTeX with `title` as caption. */
export function numbers({ title, name, header, rows }: { title: string; name: string; header: readonly string[]; rows: Rows }): Ways {
  return {
    name: 'Table',
    ways: [
      { words: 'Save as CSV', do: () => (save(fileName(name, 'csv'), csv(header, rows), 'text/csv'), '') },
      { words: 'Copy as LaTeX', do: () => copyText(latexTable({ name, caption: title, header, rows }), 'Save the CSV.') },
    ],
  }
}
