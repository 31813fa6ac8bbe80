/** Properties that a drawing takes from the page's style sheet: in a file of its own it must carry them along. */
const CARRIED = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'dominant-baseline']

/**
 * How large a unit of a drawing is in print: 480 fill a column of 8.5 cm, and letters of 12, the smallest there are,
 * come to 6 points. What is wider goes across both columns, as it is.
 */
const UNIT_MM = 85 / 480

/** A drawing as a file that looks alike anywhere: colours resolved, those of the light page, as it goes into a paper. */
export function standalone(svg: SVGSVGElement): string {
  const figure = svg.closest<HTMLElement>('figure') ?? svg
  // For a moment, before anything is painted: colours are looked up at the root, so that no part of a page has its own.
  const root = document.documentElement
  const before = root.dataset.theme
  root.dataset.theme = 'light'
  try {
    return resolved(svg, getComputedStyle(figure).backgroundColor)
  } finally {
    if (before === undefined) delete root.dataset.theme
    else root.dataset.theme = before
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
      // Patterns are named by an address within the drawing: those stay as they are written.
      if (value && !element.getAttribute(name)?.startsWith('url(')) to[i]!.setAttribute(name, value)
    }
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

/** Pixels of a picture for one unit of the drawing: twice what the page draws. */
const SHARPNESS = 2

/**
 * A drawing as a PNG, painted by the browser. By a data: address, which the page's policy allows for pictures and a
 * blob: one it does not.
 */
export async function bitmap(svg: string): Promise<Blob> {
  const picture = new Image()
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`
  await picture.decode()
  const canvas = document.createElement('canvas')
  // In units: what the browser makes of millimetres is rounded.
  const [, width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg) ?? []
  canvas.width = Math.ceil(Number(width) * SHARPNESS)
  canvas.height = Math.ceil(Number(height) * SHARPNESS)
  const brush = canvas.getContext('2d')
  if (!brush) throw new Error('no canvas')
  brush.drawImage(picture, 0, 0, canvas.width, canvas.height)
  return new Promise((done, failed) => canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error('no picture'))), 'image/png'))
}
