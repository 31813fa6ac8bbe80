/** Mouse input on a text: the pressed word, and the browser's selection. */

type Keys = Readonly<Pick<PointerEvent, 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey'>>

export class Press {
  private word: number | null = null
  private isDown = false
  private taking: ReturnType<typeof setTimeout> | undefined

  /** `wordAt`: the word at an event target. `take` is called when the browser's selection is final. */
  constructor(
    private readonly wordAt: (target: EventTarget | null) => number | null,
    private readonly take: (word: number | null, keys: Keys) => void,
  ) {}

  /** Start a press. Return whether it is by touch or pen, where dragging scrolls and clicks are handled instead. */
  down(event: PointerEvent): boolean {
    const touch = event.pointerType !== 'mouse'
    // The second press of a double-click replaces the first, which has not been handled yet.
    clearTimeout(this.taking)
    this.isDown = !touch && event.button === 0
    this.word = this.isDown ? this.wordAt(event.target) : null
    return touch
  }

  up(event: PointerEvent): void {
    if (!this.isDown || event.button !== 0) return
    this.isDown = false
    const { altKey, ctrlKey, metaKey, shiftKey } = event
    const { word } = this
    // The browser has the final selection only after this event.
    this.taking = setTimeout(() => this.take(word, { altKey, ctrlKey, metaKey, shiftKey }))
  }
}
