/** Ranges of passages on the screen. The element of each sentence has `data-i` and one text node, its stored text. */

import type { Chunk } from './chunks.ts'
import type { Unit } from './structure.ts'

const elementOf = (box: HTMLElement, unit: number) => box.querySelector<HTMLElement>(`[data-i="${unit}"]`)

/** The DOM range of a range of a passage; null if its passage is not drawn. */
export function drawnRange(elements: readonly HTMLElement[], units: readonly Unit[], { passage, start, end }: Chunk): Range | null {
  const isIn = (u: Unit) => u.passage === passage && u.start < end && start < u.end
  const first = units.findIndex(isIn), last = units.findLastIndex(isIn)
  const from = elements[first]?.firstChild, to = elements[last]?.firstChild
  if (!from || !to) return null
  const range = document.createRange()
  range.setStart(from, Math.max(0, start - units[first]!.start))
  range.setEnd(to, Math.min(end, units[last]!.end) - units[last]!.start)
  return range
}

/** Take and clear the browser's selection in the source. 'two passages' if it crosses passages, null if there is none. */
export function takeSelection(box: HTMLElement, units: readonly Unit[]): Chunk | 'two passages' | null {
  const native = getSelection()
  if (!native?.rangeCount || native.isCollapsed || !native.containsNode(box, true)) return null
  const range = native.getRangeAt(0)
  const touched = units.flatMap((_, n) => {
    const element = elementOf(box, n)
    return element && range.intersectsNode(element) ? [n] : []
  })
  const first = touched[0], last = touched.at(-1)
  if (first === undefined || last === undefined) return null
  const offset = (node: Node, at: number, unit: number, otherwise: number) =>
    node.nodeType === Node.TEXT_NODE && elementOf(box, unit)!.contains(node) ? units[unit]!.start + at : otherwise
  const start = offset(range.startContainer, range.startOffset, first, units[first]!.start)
  const end = offset(range.endContainer, range.endOffset, last, units[last]!.end)
  native.removeAllRanges()
  if (units[first]!.passage !== units[last]!.passage) return 'two passages'
  return { passage: units[first]!.passage, start, end }
}
