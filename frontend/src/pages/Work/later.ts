/** Parts of the Work page that are loaded in the background after its first unit. */

export { default as LastAnswers } from './LastAnswers.svelte'
export { default as Dialogs } from './Dialogs.svelte'
