/** What a methods text lacks, by the page on which to enter it. */

import type { Schemas } from '../../api/client.ts'

type Gap = Schemas['MethodsGap']

const NAMES: Record<string, string> = { 'settings?tab=citation': 'Settings, Citation', settings: 'Settings', import: 'Import', rounds: 'Rounds' }

/** The name of a page, from its path relative to the project. */
export const pageName = (page: string): string => NAMES[page] ?? page

/** The gaps by page, in the order of the first gap of each page. */
export function byPage(gaps: readonly Gap[]): [string, Gap[]][] {
  const pages = new Map<string, Gap[]>()
  for (const gap of gaps) pages.set(gap.page, [...(pages.get(gap.page) ?? []), gap])
  return [...pages]
}
