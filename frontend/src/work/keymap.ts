/** From key presses to commands, by one table that also prints the keys on controls and in the dialog of keys. */

export interface Binding {
  /** Keys as `keyOf` names them. */
  readonly keys: readonly string[]
  readonly command: string
  /** What it does, in words; empty for a twin that is listed with another. */
  readonly says: string
  /** As it is printed on the control. */
  readonly shown: string
  /** Whether holding the key down may repeat it. */
  readonly repeats?: boolean
  /** Whether it settles something: ignored in the first moments of a new text. */
  readonly settles?: boolean
}

/** Where the focus is: what the browser itself does there is left to it. */
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
 * The key by what it means: letters in lower case, digits also from a row where they need Shift (French), letters also
 * from a keyboard of another script.
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

/** WCAG 2.1.4: keys that are one printed character, which a person can switch off. */
export function isSingle(key: string): boolean {
  return key.length === 1 && key !== ' '
}

/** The binding that a press stands for, or null. Modified keys belong to the browser, but for Ctrl+Z. */
export function match(
  bindings: readonly Binding[], press: Press, at: { place: Place; singleKeys: boolean },
): Binding | null {
  const key = keyOf(press)
  if (OWN[at.place](key)) return null
  const name = press.ctrlKey || press.metaKey ? (press.shiftKey ? '' : `Ctrl+${key}`) : press.altKey ? '' : key
  const found = bindings.find((b) => b.keys.includes(name))
  if (!found || (isSingle(name) && !at.singleKeys) || (press.repeat && !found.repeats)) return null
  return found
}

/** The place of the focused element. */
export function placeOf(element: Element | null): Place {
  if (!element) return 'elsewhere'
  if (element.matches('input[type=radio]')) return 'radio'
  if (element.matches('textarea, select, input, [contenteditable]:not([contenteditable=false])')) return 'text field'
  return element.matches('button, a[href], summary') ? 'button' : 'elsewhere'
}
