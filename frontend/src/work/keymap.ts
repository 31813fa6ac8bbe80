/** Map key presses to commands with a table that also provides the key labels and the list of keys. */

export interface Binding {
  /** Keys as `keyOf` names them. */
  readonly keys: readonly string[]
  readonly command: string
  /** Description; empty if the key is listed with another. */
  readonly says: string
  /** Label of the key. */
  readonly shown: string
  /** Whether holding the key down repeats the command. */
  readonly repeats?: boolean
  /** Whether the command decides something and is ignored just after a new text appears. */
  readonly settles?: boolean
}

/** Type of the focused element, whose own keys are left to the browser. */
export type Place = 'text field' | 'radio' | 'button' | 'elsewhere'

export interface Press {
  key: string
  code?: string
  shiftKey?: boolean
  ctrlKey?: boolean
  metaKey?: boolean
  altKey?: boolean
  repeat?: boolean
}

const OWN: Record<Place, (key: string) => boolean> = {
  'text field': () => true,
  radio: (key) => key.startsWith('Arrow') || key === ' ' || key === 'Home' || key === 'End',
  button: (key) => key === 'Enter' || key === ' ',
  elsewhere: () => false,
}

/**
 * The meaning of a key: letters in lower case, digits also on keyboards where they need Shift (French), letters also
 * on keyboards of another script.
 */
export function keyOf(press: Press): string {
  const { key, code = '', shiftKey } = press
  if (key.length !== 1) return key
  if (/^[!-~]$/.test(key)) {
    const digit = /^Digit(\d)$/.exec(code)?.[1]
    return digit && !shiftKey && !/[0-9!?,.<>]/.test(key) ? digit : key.toLowerCase()
  }
  if (key === ' ') return key
  return /^(?:Key([A-Z])|Digit(\d))$/.exec(code)?.slice(1).find(Boolean)?.toLowerCase() ?? key
}

/** Whether a key is one printed character, which people can switch off (WCAG 2.1.4). */
export function isSingle(key: string): boolean {
  return key.length === 1 && key !== ' '
}

/** The binding of a key press, or null. Keys with a modifier belong to the browser, except Ctrl+Z. */
export function match(
  bindings: readonly Binding[], press: Press, at: { place: Place; singleKeys: boolean },
): Binding | null {
  const key = keyOf(press)
  if (OWN[at.place](key)) return null
  const name = press.ctrlKey || press.metaKey ? (press.shiftKey ? '' : `Ctrl+${key}`) : press.altKey ? '' : key
  const binding = bindings.find((b) => b.keys.includes(name))
  if (!binding || (isSingle(name) && !at.singleKeys) || (press.repeat && !binding.repeats)) return null
  return binding
}

/** The type of the focused element. */
export function placeOf(element: Element | null): Place {
  if (!element) return 'elsewhere'
  if (element.matches('input[type=radio]')) return 'radio'
  if (element.matches('textarea, select, input, [contenteditable]:not([contenteditable=false])')) return 'text field'
  return element.matches('button, a[href], summary') ? 'button' : 'elsewhere'
}
