/** The mouse on a drawn text: a word that was pressed, and what the browser selected with it. */

type Keys = Readonly<Pick<PointerEvent, 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey'>>

export class Press {
  private word: number | null = null
  private isDown = false
  private taking: ReturnType<typeof setTimeout> | undefined

  /** `wordAt`: the word under a press. `take` is called once the browser has what a drag or a double click selects. */
  constructor(
    private readonly wordAt: (target: EventTarget | null) => number | null,
    private readonly take: (word: number | null, keys: Keys) => void,
  ) {}

  /** Whether it is a finger's or a pen's: those have no drag that is not a scroll, and are left to their clicks. */
  down(event: PointerEvent): boolean {
    const touch = event.pointerType !== 'mouse'
    // The second press of a double click comes before the first one was taken: then only the second counts.
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
