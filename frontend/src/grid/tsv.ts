/** The clipboard format of spreadsheets: tab-separated cells, one row per line, quotes around cells with tabs or line breaks. */

/** Parse a clipboard text into rows, which can differ in length. A final line break adds no row. */
export function parse(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    const [cell, end] = text[at] === '"' ? quoted(text, at) : plain(text, at)
    row.push(cell)
    at = end
    if (text[at] === '\t') {
      at++
      // A final tab is followed by an empty cell.
      if (at === text.length) row.push('')
      else if (text[at] === '\r' || text[at] === '\n') row.push('')
    }
    if (text[at] === '\r' || text[at] === '\n') {
      at += text.startsWith('\r\n', at) ? 2 : 1
      rows.push(row)
      row = []
    }
  }
  if (row.length) rows.push(row)
  return rows
}

function plain(text: string, at: number): [string, number] {
  let end = at
  while (end < text.length && !/[\t\r\n]/.test(text[end]!)) end++
  return [text.slice(at, end), end]
}

/** A quoted cell with doubled quotes; quotes that do not close before a tab or line break are text. */
function quoted(text: string, at: number): [string, number] {
  let cell = ''
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] !== '"') cell += text[i]
    else if (text[i + 1] === '"') cell += text[i++]
    else if (i + 1 === text.length || /[\t\r\n]/.test(text[i + 1]!)) return [cell.replace(/\r\n?/g, '\n'), i + 1]
    else break
  }
  return plain(text, at)
}

/** Format cells for the clipboard. */
export function format(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.map((c) => (/[\t\r\n]|^"/.test(c) ? `"${c.replaceAll('"', '""')}"` : c)).join('\t')).join('\n')
}
