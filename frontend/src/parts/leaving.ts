/** What is written and not saved yet asks before it is left: by a link, by closing the page, by loading it anew. */

import { onMount } from 'svelte'

/** For as long as the component is there, asks before it is left while something is `changed`. */
export function asksBeforeLeaving(changed: () => boolean): void {
  onMount(() => {
    const closing = (event: Event) => {
      if (changed()) event.preventDefault()
    }
    const leaving = (event: Event) => {
      if (changed() && !confirm('Leave this page? What you changed is not saved.')) event.preventDefault()
    }
    addEventListener('beforeunload', closing)
    addEventListener('leaving', leaving)
    return () => {
      removeEventListener('beforeunload', closing)
      removeEventListener('leaving', leaving)
    }
  })
}
