/** LaTeX figures and tables. Text is escaped, and wide or long tables are fitted to the page. */

import { decimal, fileName } from '../components/format.ts'

type Value = string | number | null

const SIGNS: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}', '{': '\\{', '}': '\\}', $: '\\$', '&': '\\&', '%': '\\%', '#': '\\#', _: '\\_', '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}', '<': '\\textless{}', '>': '\\textgreater{}', '|': '\\textbar{}', '"': '\\textquotedbl{}', '±': '$\\pm$', '−': '$-$', '–': '--',
  // LaTeX would read a bracket at the start of a row as an option of the line end before it.
  '[': '{[}', ']': '{]}',
}

export const plain = (words: string) => words.replace(/\s+/g, ' ').replace(/[\\{}$&%#_~^<>|"±−–[\]]/g, (c) => SIGNS[c]!)

/** A figure by file name, with caption and label. `wide`: across both columns. */
export function latexFigure({ file, caption, wide }: { file: string; caption: string; wide: boolean }): string {
  const figure = wide ? 'figure*' : 'figure'
  const name = fileName(file, '').slice(0, -1)
  return [
    '% In the preamble: \\usepackage{graphicx,textcomp}. The file is the PDF or the PNG.', `\\begin{${figure}}`, '\\centering',
    `\\includegraphics[width=\\linewidth]{${name}}`, `\\caption{${plain(caption)}}`, `\\label{fig:${name}}`, `\\end{${figure}}`, '',
  ].join('\n')
}

/** Characters in one column of a paper, characters in a line of a prose column, and lines on a page. */
const ONE_COLUMN = 62
const PROSE = 40
const A_PAGE = 48

interface Column {
  title: string
  cells: readonly string[]
  numeric: boolean
}

/** A `booktabs` table: numbers to three places, intervals in brackets, a dash for missing values. A constant column becomes
 * a note; a wide table spans both columns, a long table several pages. */
export function latexTable({ name, caption, header, rows }: { name: string; caption: string; header: readonly string[]; rows: readonly (readonly Value[])[] }): string {
  const label = fileName(name, '').slice(0, -1)
  const all = columns(header, rows)
  const isSame = (column: Column, at: number) => at > 0 && rows.length > 1 && !column.numeric && column.cells[0] !== '' && new Set(column.cells).size === 1
  const visible = all.filter((column, at) => !isSame(column, at))
  const notes = all.filter(isSame).map((column) => `${column.title}: ${column.cells[0]!.replace(/\.$/, '')}.`)
  const width = visible.reduce((sum, column) => sum + 2 + Math.min(PROSE, longest(column)), 0)
  const kind = width > ONE_COLUMN ? 'table*' : 'table'
  const spec = visible.map((column) => (column.numeric ? 'r' : isProse(column) ? `>{\\raggedright\\arraybackslash}p{${PROSE / 2}em}` : 'l')).join('')
  const line = (cells: readonly string[]) => `${cells.map((cell) => plain(cell || '–')).join(' & ')} \\\\`
  const parts = pages(visible, rows.length)
  return [
    '% In the preamble: \\usepackage{array,booktabs,graphicx,textcomp}',
    ...parts.flatMap(([from, to], i) => [
      `\\begin{${kind}}`, '\\centering', '\\setlength{\\tabcolsep}{3pt}',
      `\\caption{${plain(caption.replace(/\.$/, ''))}${i ? ', continued' : ''}.}`, ...(i ? [] : [`\\label{tab:${label}}`]),
      '\\smallskip\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%',
      `\\begin{tabular}{${spec}}`, '\\toprule', line(visible.map((column) => column.title)), '\\midrule',
      ...Array.from({ length: to - from }, (_, at) => line(visible.map((column) => column.cells[from + at]!))),
      '\\bottomrule', '\\end{tabular}}',
      ...(notes.length && i === parts.length - 1 ? ['\\par\\raggedright\\footnotesize', ...notes.map((note) => `${plain(note)}\\par`)] : []),
      `\\end{${kind}}`,
    ]),
    '',
  ].join('\n')
}

const longest = (column: Column) => Math.max(column.title.length, ...column.cells.map((cell) => cell.length))
const isProse = (column: Column) => !column.numeric && longest(column) > PROSE

function words(value: Value): string {
  if (value === null) return ''
  return typeof value === 'string' ? value : decimal(value, Number.isInteger(value) ? 0 : 3)
}

/** Printed columns: the two ends of an interval are merged, empty columns are dropped. */
function columns(header: readonly string[], rows: readonly (readonly Value[])[]): Column[] {
  const found: Column[] = []
  for (let at = 0; at < header.length; at++) {
    const title = header[at]!
    const stem = /^(.+) low$/.exec(title)?.[1]
    if (stem && header[at + 1] === `${stem} high`) {
      const ends = (row: readonly Value[]) => (row[at] === null ? '' : `[${words(row[at]!)}, ${words(row[at + 1]!)}]`)
      found.push({ title: stem, cells: rows.map(ends), numeric: true })
      at++
    } else {
      const numeric = typeof rows.find((row) => row[at] !== null)?.[at] === 'number'
      found.push({ title, cells: rows.map((row) => words(row[at] ?? null)), numeric })
    }
  }
  return found.filter((column, at) => at === 0 || !rows.length || column.cells.some(Boolean))
}

/** Row ranges [from, to) by page, where a prose row can have several lines. */
function pages(visible: readonly Column[], rows: number): [number, number][] {
  const found: [number, number][] = []
  let from = 0
  let lines = 0
  for (let at = 0; at < rows; at++) {
    const high = Math.max(1, ...visible.filter(isProse).map((column) => Math.ceil(column.cells[at]!.length / PROSE)))
    if (at > from && lines + high > A_PAGE) {
      found.push([from, at])
      from = at
      lines = 0
    }
    lines += high
  }
  return [...found, [from, rows]]
}
