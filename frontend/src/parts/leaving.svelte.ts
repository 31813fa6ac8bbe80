/** What is written and not saved yet asks before it is left: by a link, by closing the page, by loading it anew. */

import { onMount } from 'svelte'

const unsaved = new Set<() => boolean>()

/** Whether the page may be left: nothing is unsaved, or the person says so. */
export function mayLeave(ask: (question: string) => boolean = (question) => confirm(question)): boolean {
  return ![...unsaved].some((changed) => changed()) || ask('Leave this page? What you changed is not saved.')
}

/** For as long as the component is there, asks before it is left while something is `changed`. */
export function asksBeforeLeaving(changed: () => boolean): void {
  onMount(() => {
    const closing = (event: BeforeUnloadEvent) => {
      if (changed()) event.preventDefault()
    }
    unsaved.add(changed)
    addEventListener('beforeunload', closing)
    return () => {
      unsaved.delete(changed)
      removeEventListener('beforeunload', closing)
    }
  })
}
