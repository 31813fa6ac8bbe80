import type { Binding } from '../../work/keymap.ts'

export { default } from './Tuple.svelte'
export { inShort, inWords } from './words.ts'
export const noun = 'Target'
/** Letters go into the fields; Enter, in a field too, saves. */
export const bindings: readonly Binding[] = []
