/** Exports of a figure and its numbers, ready for a paper. */

import { copyText } from '../components/copyText.ts'
import type { Ways } from '../components/Export.svelte'
import { csv, fileName } from '../components/format.ts'
import { latexFigure, latexTable } from './latex.ts'
import { save, saveBlob } from '../components/save.ts'
import { bitmap, COLUMNS, type Columns, type Theme } from './picture.ts'

interface Drawing {
  title: string
  /** Note below the figure. */
  note?: string
  /** Name of the files. */
  name: string
  /** The figure as an SVG file, as wide as one column or both columns of a paper. */
  svg: (columns: Columns, theme?: Theme) => string
  /** The figure as a Vega-Lite specification. */
  spec: () => object
}

/** Run an export; return what to do instead if the browser cannot. */
async function attempt(action: () => Promise<void>, instead: string): Promise<string> {
  try {
    await action()
    return ''
  } catch {
    return instead
  }
}

/** Exports of a figure at the widths of a paper. */
export function drawing({ title, note = '', name, svg, spec }: Drawing): Ways[] {
  const file = (columns: Columns, ending: string) => fileName(columns === 'one' ? name : `${name} wide`, ending)
  const figure = (columns: Columns) => copyText(latexFigure({ file: file(columns, '').slice(0, -1), caption: [title, note].filter(Boolean).join('. '), wide: columns === 'two' }), 'Save the PDF.')
  const pdf = (columns: Columns) =>
    attempt(async () => {
      const { pdfOf } = await import('./pdf.ts')
      saveBlob(file(columns, 'pdf'), new Blob([await pdfOf(svg(columns))], { type: 'application/pdf' }))
    }, 'The PDF could not be created. Save the SVG.')
  const png = (columns: Columns) => attempt(async () => saveBlob(file(columns, 'png'), await bitmap(svg(columns))), 'This browser cannot create a PNG. Save the SVG.')
  const ways = (columns: Columns) => [
    { words: 'Save as SVG', do: () => (save(file(columns, 'svg'), svg(columns), 'image/svg+xml'), '') },
    { words: 'Save as PDF', do: () => pdf(columns) },
    { words: 'Save as PNG', do: () => png(columns) },
    { words: 'Copy LaTeX figure', do: () => figure(columns) },
  ]
  return [
    { name: `One column, ${COLUMNS.one} mm`, ways: ways('one') },
    { name: `Both columns, ${COLUMNS.two} mm`, ways: ways('two') },
    {
      name: 'Other',
      ways: [
        { words: 'Save as SVG, dark', do: () => (save(fileName(`${name} dark`, 'svg'), svg('two', 'dark'), 'image/svg+xml'), '') },
        { words: 'Save as Vega-Lite', do: () => (save(fileName(name, 'vl.json'), `${JSON.stringify(spec(), null, 1)}\n`, 'application/json'), '') },
      ],
    },
  ]
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
