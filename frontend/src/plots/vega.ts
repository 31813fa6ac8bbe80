/** Figures as Vega-Lite specifications with their data, for other tools. Sizes are those of one column of a paper. */

const SCHEMA = 'https://vega.github.io/schema/vega-lite/v6.json'
/** Pixels of 1/96 inch in 84 mm, less the labels; text of 11 pixels is 8 points high. */
const WIDTH = 300
const TEXT = 11

type Value = string | number | null

interface Figure {
  title: string
  note: string
}

function document({ title, note }: Figure, content: object): object {
  const config = { font: 'Liberation Sans, Arial, Helvetica, sans-serif', view: { stroke: null }, axis: { labelFontSize: TEXT, titleFontSize: TEXT, labelLimit: 0 }, text: { fontSize: TEXT } }
  return { $schema: SCHEMA, title: { text: title, subtitle: note, anchor: 'start', fontSize: TEXT + 2, subtitleFontSize: TEXT }, width: WIDTH, background: 'white', config, ...content }
}

export interface IntervalDatum {
  name: string
  value: number | null
  ci: readonly number[] | null
}

/** A dot and an interval for each name. */
export function intervalSpec(figure: Figure & { rows: readonly IntervalDatum[]; axisTitle?: string }): object {
  const x = { field: 'value', type: 'quantitative', title: figure.axisTitle || null, scale: { zero: false } }
  return document(figure, {
    data: { values: figure.rows.map(({ name, value, ci }) => ({ name, value, low: ci?.[0] ?? null, high: ci?.[1] ?? null })) },
    encoding: { y: { field: 'name', type: 'nominal', sort: null, title: null } },
    layer: [{ mark: 'rule', encoding: { x: { ...x, field: 'low' }, x2: { field: 'high' } } }, { mark: { type: 'point', filled: true, opacity: 1, size: 60 }, encoding: { x } }],
  })
}

export interface MatrixDatum {
  row: string
  column: string
  text: string
  small: string
  fill: number | null
}

/** Shaded cells by row and column. */
export function matrixSpec(figure: Figure & { cells: readonly MatrixDatum[] }): object {
  return document(figure, {
    data: { values: figure.cells },
    encoding: { x: { field: 'column', type: 'nominal', sort: null, title: null, axis: { orient: 'top', labelAngle: 0 } }, y: { field: 'row', type: 'nominal', sort: null, title: null } },
    height: { step: 40 },
    layer: [
      { mark: 'rect', encoding: { color: { field: 'fill', type: 'quantitative', scale: { domain: [0, 1], range: ['#ffffff', '#6992c0'] }, legend: null } } },
      { mark: { type: 'text', dy: -6 }, encoding: { text: { field: 'text' } } },
      { mark: { type: 'text', dy: 9 }, encoding: { text: { field: 'small' } } },
    ],
  })
}

/** The rows of any figure: the first two columns of numbers as points, or one column of numbers as bars. */
export function tableSpec(figure: Figure & { header: readonly string[]; rows: readonly (readonly Value[])[] }): object {
  const columns = figure.header.map((title, at) => ({ field: `c${at}`, title, numeric: figure.rows.some((row) => typeof row[at] === 'number') }))
  const numbers = columns.filter((column) => column.numeric)
  const names = columns.find((column) => !column.numeric)
  const quantity = (of: (typeof columns)[number] | undefined) => ({ field: of?.field ?? 'c0', type: 'quantitative', title: of?.title ?? '', scale: { zero: false } })
  const bars = numbers.length < 2
  return document(figure, {
    data: { values: figure.rows.map((row) => Object.fromEntries(row.map((cell, at) => [`c${at}`, cell]))) },
    mark: bars ? 'bar' : { type: 'point', filled: true },
    encoding: bars
      ? { x: { field: names?.field ?? 'c0', type: 'ordinal', sort: null, title: names?.title ?? '' }, y: { ...quantity(numbers[0]), scale: { zero: true } } }
      : { x: quantity(numbers[0]), y: quantity(numbers.find((column, at) => at > 0 && !/^CI (low|high)$/.test(column.title))), ...(names ? { color: { field: names.field, type: 'nominal', title: names.title } } : {}) },
  })
}
