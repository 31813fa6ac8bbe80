/** What the Work page needs once its first unit is there, and not before: in one file, for which nobody waits. */

export { default as LastAnswers } from '../parts/LastAnswers.svelte'
export { default as Dialogs } from './Dialogs.svelte'
