/** A figure as a PDF with embedded fonts. Loaded when a PDF is saved: the library and the fonts are large. */

import fontkit from '@pdf-lib/fontkit'
import boldFont from 'dejavu-fonts-ttf/ttf/DejaVuSansCondensed-Bold.ttf?url'
import normalFont from 'dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf?url'
import { PDFDocument, rgb, type Color, type PDFFont, type PDFPage } from 'pdf-lib'
import { bitmap } from './picture.ts'

const POINTS_PER_MM = 72 / 25.4

interface Paint {
  colour: Color
  opacity: number
}

/** The paint of "rgb(1, 2, 3)", "rgb(1 2 3 / 50%)" or "color(srgb 0.1 0.2 0.3)"; null for "none". */
export function paintOf(value: string | null, opacity = 1): Paint | null {
  const numbers = value?.match(/[\d.]+/g)?.map(Number) ?? []
  if (!value || value === 'none' || numbers.length < 3) return null
  const scale = value.startsWith('color(') ? 1 : 255
  const [red, green, blue] = numbers.map((n) => Math.min(1, n / scale))
  return { colour: rgb(red!, green!, blue!), opacity: (numbers[3] ?? 1) * opacity }
}

type Read = (name: string) => number

/** The outline of a shape as path data; empty for other elements. */
function pathOf(element: Element, n: Read): string {
  switch (element.tagName) {
    case 'path':
      return element.getAttribute('d') ?? ''
    case 'line':
      return `M${n('x1')} ${n('y1')}L${n('x2')} ${n('y2')}`
    case 'rect':
      return `M${n('x')} ${n('y')}h${n('width')}v${n('height')}h${-n('width')}Z`
    case 'circle':
      return `M${n('cx') - n('r')} ${n('cy')}a${n('r')} ${n('r')} 0 1 0 ${2 * n('r')} 0a${n('r')} ${n('r')} 0 1 0 ${-2 * n('r')} 0Z`
    case 'polyline':
      return `M${(element.getAttribute('points') ?? '').trim().split(/\s+/).join('L').replaceAll(',', ' ')}`
    default:
      return ''
  }
}

/** Diagonal lines inside a rectangle, for cells without a value. */
function hatch(n: Read): string {
  const [x, y, w, h] = [n('x'), n('y'), n('width'), n('height')]
  const lines: string[] = []
  for (let from = 8; from < w + h; from += 8) lines.push(`M${x + Math.min(from, w)} ${y + Math.max(0, from - w)}L${x + Math.max(0, from - h)} ${y + Math.min(from, h)}`)
  return lines.join('')
}

function words(element: Element): string {
  return [...element.childNodes].filter((node) => node.nodeName !== 'title').map((node) => node.textContent ?? '').join('').trim()
}

export async function pdfOf(svg: string): Promise<Uint8Array<ArrayBuffer>> {
  const root = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement
  const [, , width = 1, height = 1] = (root.getAttribute('viewBox') ?? '').split(' ').map(Number)
  const unit = (parseFloat(root.getAttribute('width') ?? '') * POINTS_PER_MM) / width
  const file = await PDFDocument.create()
  file.registerFontkit(fontkit)
  const page = file.addPage([width * unit, height * unit])
  const load = async (address: string) => file.embedFont(await (await fetch(address)).arrayBuffer(), { subset: true })
  const [normal, bold] = await Promise.all([load(normalFont), load(boldFont)])
  const known = new Set(normal.getCharacterSet())
  const texts = [...root.querySelectorAll('text')]
  if (texts.every((text) => [...words(text)].every((letter) => known.has(letter.codePointAt(0)!)))) drawAll(root, page, unit, [width, height], { normal, bold })
  else page.drawImage(await file.embedPng(await (await bitmap(svg)).arrayBuffer()), { x: 0, y: 0, width: page.getWidth(), height: page.getHeight() })
  return (await file.save()) as Uint8Array<ArrayBuffer>
}

function drawAll(root: Element, page: PDFPage, unit: number, [width, height]: [number, number], fonts: { normal: PDFFont; bold: PDFFont }) {
  const top = page.getHeight()
  for (const element of root.querySelectorAll(':not(defs, defs *)')) {
    const get = (name: string) => element.getAttribute(name)
    const n: Read = (name) => {
      const value = get(name) ?? '0'
      return value.endsWith('%') ? (parseFloat(value) / 100) * (name === 'height' || name.startsWith('y') ? height : width) : parseFloat(value)
    }
    const isHatched = get('fill')?.startsWith('url(') ?? false
    const fill = isHatched || element.tagName === 'line' ? null : paintOf(get('fill'), Number(get('fill-opacity') ?? 1))
    if (element.tagName === 'text') {
      const text = words(element)
      if (!text || !fill) continue
      const font = Number(get('font-weight')) >= 600 ? fonts.bold : fonts.normal
      const size = n('font-size') * unit
      const shift = { middle: 0.5, end: 1 }[get('text-anchor') ?? ''] ?? 0
      page.drawText(text, { x: n('x') * unit - shift * font.widthOfTextAtSize(text, size), y: top - n('y') * unit, size, font, color: fill.colour })
      continue
    }
    const path = isHatched ? hatch(n) : pathOf(element, n)
    const stroke = isHatched ? { colour: rgb(0.5, 0.5, 0.5), opacity: 1 } : paintOf(get('stroke'))
    if (!path || (!fill && !stroke)) continue
    const dash = (get('stroke-dasharray') ?? '').match(/[\d.]+/g)?.map(Number)
    page.drawSvgPath(path, {
      x: 0, y: top, scale: unit,
      ...(fill ? { color: fill.colour, opacity: fill.opacity } : {}),
      ...(stroke ? { borderColor: stroke.colour, borderWidth: parseFloat(get('stroke-width') ?? '1') || 1, borderOpacity: stroke.opacity } : {}),
      ...(dash ? { borderDashArray: dash } : {}),
    })
  }
}
