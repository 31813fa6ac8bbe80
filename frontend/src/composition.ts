/** Keep keys of an input method (Japanese, Chinese, Korean) from the handlers of pages, kinds and dialogs. */

/** Safari ends the composition before its last keydown, which only the key code 229 distinguishes from a real Enter. */
export const composes = (event: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean => event.isComposing || event.keyCode === 229

/** Call once, before anything else listens: `stopImmediatePropagation` in the capture phase precedes every handler. */
export function guardComposition(target: Pick<EventTarget, 'addEventListener'>): void {
  const listen = (type: string, listener: (event: Event) => void) => target.addEventListener(type, listener, { capture: true })
  /** Whether the pressed key belongs to a composition. */
  let composing = false
  listen('keydown', (event) => {
    composing = composes(event as KeyboardEvent)
    if (composing) event.stopImmediatePropagation()
  })
  listen('keyup', () => (composing = false))
  // Some input methods pass keys on; Enter would submit the form, and Escape close a dialog.
  listen('keypress', (event) => {
    if ((event as KeyboardEvent).isComposing) event.preventDefault()
  })
  listen('cancel', (event) => {
    if (composing) event.preventDefault()
  })
}
