/** Properties that a drawing takes from the page's style sheet: in a file of its own it must carry them along. */
const CARRIED = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'dominant-baseline']

/** A drawing as a file that looks alike anywhere: colours resolved, those of the light page, as it goes into a paper. */
export function standalone(svg: SVGSVGElement): string {
  const figure = svg.closest<HTMLElement>('figure') ?? svg
  const before = figure.style.colorScheme
  figure.style.colorScheme = 'light'
  try {
    return resolved(svg, getComputedStyle(figure).backgroundColor)
  } finally {
    figure.style.colorScheme = before
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
  copy.setAttribute('width', String(width))
  copy.setAttribute('height', String(height))
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
  ground.setAttribute('width', '100%')
  ground.setAttribute('height', '100%')
  ground.setAttribute('fill', surface)
  copy.prepend(ground)
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`
}
