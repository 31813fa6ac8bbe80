/** Confirmation before a page with unsaved changes is left by a link, closed or reloaded. */

import { onMount } from 'svelte'

/** Ask before leaving while `changed`, as long as the component exists. */
export function asksBeforeLeaving(changed: () => boolean): void {
  onMount(() => {
    const closing = (event: Event) => {
      if (changed()) event.preventDefault()
    }
    const leaving = (event: Event) => {
      if (changed() && !confirm('Leave this page? Your changes are not saved.')) event.preventDefault()
    }
    addEventListener('beforeunload', closing)
    addEventListener('leaving', leaving)
    return () => {
      removeEventListener('beforeunload', closing)
      removeEventListener('leaving', leaving)
    }
  })
}
