import { flushSync, mount, unmount, type Component } from 'svelte'

/** Style properties copied into a standalone file, which has no style sheet. */
const CARRIED = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'dominant-baseline']

/** Size of a drawing unit in print: the smallest letters (12 units) are 8 points high. */
const UNIT_MM = ((8 / 12) * 25.4) / 72

/** Widths of one column and of both columns of a paper. */
export const COLUMNS = { one: 84, two: 174 } as const
export type Columns = keyof typeof COLUMNS

/** Drawing units in a width of a paper. */
export const unitsIn = (columns: Columns): number => Math.floor(COLUMNS[columns] / UNIT_MM)

/** Fonts of files, which are opened where the fonts of the page may be missing. */
const FONTS = 'Liberation Sans, Arial, Helvetica, sans-serif'

export type Theme = 'light' | 'dark'

/** A figure as a standalone SVG with the colours of one theme; light for papers. */
export function standalone(svg: SVGSVGElement, theme: Theme = 'light'): string {
  const figure = svg.closest<HTMLElement>('figure') ?? svg
  // Set the theme at the root before anything is painted, because colours are defined there.
  const root = document.documentElement
  const before = root.dataset.theme
  root.dataset.theme = theme
  try {
    return resolved(svg, getComputedStyle(figure).backgroundColor)
  } finally {
    if (before === undefined) delete root.dataset.theme
    else root.dataset.theme = before
  }
}

/** A figure component drawn beside the page, as wide as a paper's column or columns, as a standalone SVG. */
export function drawn<P extends Record<string, unknown>>(figure: Component<P>, props: P, columns: Columns, theme?: Theme): string {
  const host = document.createElement('div')
  host.className = 'drawing-board'
  document.body.append(host)
  const made = mount(figure, { target: host, props: { ...props, widest: unitsIn(columns) } })
  try {
    flushSync()
    return standalone(host.querySelector<SVGSVGElement>('figure svg')!, theme)
  } finally {
    void unmount(made)
    host.remove()
  }
}

function resolved(svg: SVGSVGElement, surface: string): string {
  const copy = svg.cloneNode(true) as SVGSVGElement
  const from = [svg, ...svg.querySelectorAll<SVGElement>('*')]
  const to = [copy, ...copy.querySelectorAll<SVGElement>('*')]
  from.forEach((element, i) => {
    const computed = getComputedStyle(element)
    for (const name of CARRIED) {
      const value = computed.getPropertyValue(name)
      // Keep references to patterns, which point into the drawing.
      if (value && !element.getAttribute(name)?.startsWith('url(')) to[i]!.setAttribute(name, value)
    }
    if (element.tagName === 'text') to[i]!.setAttribute('font-family', FONTS)
    to[i]!.removeAttribute('class')
  })
  const { width, height } = svg.viewBox.baseVal
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  copy.setAttribute('width', `${(width * UNIT_MM).toFixed(2)}mm`)
  copy.setAttribute('height', `${(height * UNIT_MM).toFixed(2)}mm`)
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
  ground.setAttribute('width', '100%')
  ground.setAttribute('height', '100%')
  ground.setAttribute('fill', surface)
  copy.prepend(ground)
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`
}

/** Pixels per drawing unit in a PNG: 432 pixels per inch. */
const SHARPNESS = 4

/**
 * A figure as a PNG, rendered by the browser from a data: address, because the content security policy forbids
 * blob: addresses for images.
 */
export async function bitmap(svg: string): Promise<Blob> {
  const picture = new Image()
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`
  await picture.decode()
  const canvas = document.createElement('canvas')
  // Use units, because browsers round millimetres.
  const [, width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg) ?? []
  canvas.width = Math.ceil(Number(width) * SHARPNESS)
  canvas.height = Math.ceil(Number(height) * SHARPNESS)
  const brush = canvas.getContext('2d')
  if (!brush) throw new Error('no canvas')
  brush.drawImage(picture, 0, 0, canvas.width, canvas.height)
  return new Promise((done, failed) => canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error('no picture'))), 'image/png'))
}
