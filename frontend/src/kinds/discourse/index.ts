export { default } from './Discourse.svelte'
export { bindings } from './keys.ts'
export { inShort, inWords } from './words.ts'
export const noun = 'Cluster'
