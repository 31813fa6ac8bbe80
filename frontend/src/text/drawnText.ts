/** Map between words of a text and their positions on the screen. */

/** A rendered text with exactly the characters of the stored text; each word is an element with `data-i`. */
export class DrawnText {
  constructor(private readonly find: () => HTMLElement) {}

  private get box(): HTMLElement {
    return this.find()
  }

  element(word: number): HTMLElement {
    return this.box.querySelector<HTMLElement>(`[data-i="${word}"]`)!
  }

  /** The word that an event or a point is on. */
  wordAt(target: EventTarget | null): number | null {
    const word = target instanceof Element ? target.closest<HTMLElement>('[data-i]') : null
    return word && this.box.contains(word) ? Number(word.dataset.i) : null
  }

  /** The nearest word in the line at a point: it may lie between words, below the letters, or after the end of a line. */
  nearest(x: number, y: number): number | null {
    const height = parseFloat(getComputedStyle(this.box).lineHeight)
    let best: number | null = null
    let distance = Infinity
    for (const word of this.box.querySelectorAll<HTMLElement>('[data-i]')) {
      for (const r of word.getClientRects()) {
        const lines = Math.round((y - (r.top + r.bottom) / 2) / height)
        const away = Math.abs(lines) * 1e5 + Math.max(r.left - x, x - r.right, 0)
        if (away >= distance) continue
        distance = away
        best = Number(word.dataset.i)
      }
    }
    return best
  }

  /** The nearest word in the line above or below, by the current line breaks. */
  wordOnLine(words: number, from: number, lines: 1 | -1): number | null {
    if (!words) return null
    const here = this.element(from).getBoundingClientRect()
    const height = parseFloat(getComputedStyle(this.box).lineHeight)
    let best: number | null = null
    let distance = Infinity
    for (let i = 0; i < words; i++) {
      const r = this.element(i).getBoundingClientRect()
      if (Math.round((r.top - here.top) / height) !== lines || Math.abs(r.left - here.left) >= distance) continue
      distance = Math.abs(r.left - here.left)
      best = i
    }
    return best
  }

  /** Take and clear the browser's selection in this text, in UTF-16 offsets; null if there is none. */
  takeSelection(length: number): { start: number; end: number } | null {
    const native = getSelection()
    if (!native || !native.rangeCount || native.isCollapsed || !native.containsNode(this.box, true)) return null
    const r = native.getRangeAt(0)
    const start = this.box.contains(r.startContainer) ? this.offsetOf(r.startContainer, r.startOffset) : 0
    const end = this.box.contains(r.endContainer) ? this.offsetOf(r.endContainer, r.endOffset) : length
    native.removeAllRanges()
    return { start, end }
  }

  private offsetOf(node: Node, offset: number): number {
    const range = document.createRange()
    range.setStart(this.box, 0)
    range.setEnd(node, offset)
    return range.toString().length
  }
}
