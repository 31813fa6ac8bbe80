/** What is done with a drawing and with its numbers: copied, or saved as they go into a paper. */

import { copied } from '../parts/copied.ts'
import type { Ways } from '../parts/Export.svelte'
import { csv, fileName } from '../parts/format.ts'
import { latexFigure, latexTable } from '../parts/latex.ts'
import { save, saveBlob } from '../parts/save.ts'
import { bitmap } from './picture.ts'

/** What fills one column of a paper, in millimetres: what is wider goes across both. */
const COLUMN = 90

interface Drawing {
  title: string
  /** What is said under it. */
  note?: string
  /** Of the files. */
  name: string
  /** The drawing as a file. */
  svg: () => string
  /** Where it is in the colours of the dark theme. */
  dark?: string
}

export function drawing({ title, note = '', name, svg, dark }: Drawing): Ways {
  async function png() {
    try {
      saveBlob(fileName(name, 'png'), await bitmap(svg()))
      return ''
    } catch {
      return 'This browser cannot make a PNG. Save the SVG.'
    }
  }
  const wide = () => Number(/width="([\d.]+)mm"/.exec(svg())?.[1] ?? 0) > COLUMN
  const figure = () => copied(latexFigure({ file: name, caption: [title, note].filter(Boolean).join('. '), wide: wide() }), 'Save the PNG.')
  return {
    name: 'Figure',
    ways: [
      { words: 'Copy as SVG', do: () => copied(svg(), 'Save the SVG.') },
      { words: 'Save as SVG', do: () => (save(fileName(name, 'svg'), svg(), 'image/svg+xml'), '') },
      ...(dark ? [{ words: 'Save as SVG, dark', href: dark }] : []),
      { words: 'Save as PNG', do: png },
      { words: 'Copy LaTeX figure', do: figure },
    ],
  }
}

type Rows = readonly (readonly (string | number | null)[])[]

/** Every number as it is in the file, to three places in LaTeX, where `title` is said above. */
export function numbers({ title, name, header, rows }: { title: string; name: string; header: readonly string[]; rows: Rows }): Ways {
  return {
    name: 'Table',
    ways: [
      { words: 'Save as CSV', do: () => (save(fileName(name, 'csv'), csv(header, rows), 'text/csv'), '') },
      { words: 'Copy as LaTeX', do: () => copied(latexTable({ name, caption: title, header, rows }), 'Save the CSV.') },
    ],
  }
}
