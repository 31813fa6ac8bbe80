import type { Binding } from '../../work/keymap.ts'
import { RELATIONS } from './state.ts'

/** The keys of the discourse task: a value moves on at once. */
export const bindings: readonly Binding[] = RELATIONS.map((r) => ({
  keys: [r.key.toLowerCase()], command: r.value, says: `${r.value}: ${r.says}`, shown: r.key, settles: true,
}))
