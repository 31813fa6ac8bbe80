/** The keys that pages print are the keys that do it, in every table of keys. */

import { expect, it } from 'vitest'
import type { Binding } from './keymap.ts'

const NAMED: Record<string, string> = {
  Space: ' ', Esc: 'Escape', '←': 'ArrowLeft', '→': 'ArrowRight', '↑': 'ArrowUp', '↓': 'ArrowDown',
}

/** What is printed, as keys are named: "1 … 9" is nine keys. */
function printed(shown: string): string[] {
  return shown.replace(/1\s?…\s?([2-9])/, (_, last) => '1 2 3 4 5 6 7 8 9'.slice(0, 2 * Number(last) - 1)).split(' ')
    .map((word) => NAMED[word] ?? (/^(Ctrl\+)?.$/.test(word) ? word.slice(0, -1) + word.slice(-1).toLowerCase() : word))
}

const files = import.meta.glob<Record<string, unknown>>('../**/keys.ts', { eager: true })
const tables = Object.entries(files).flatMap(([file, exported]) =>
  Object.values(exported).flatMap((table): [string, readonly Binding[]][] => (Array.isArray(table) ? [[file, table]] : [])))

it('finds the tables', () => {
  expect(tables.length).toBeGreaterThan(5)
  expect(tables.flatMap(([, table]) => table).every((binding) => binding.keys.length && binding.shown)).toBe(true)
})

it.each(tables)('prints in %s what is to be pressed', (_, table) => {
  const bound = table.flatMap((binding) => binding.keys)
  for (const { keys, shown, command } of table) {
    expect(printed(shown).some((key) => keys.includes(key)), `${shown} does ${command}`).toBe(true)
    expect(printed(shown).filter((key) => !bound.includes(key)), `printed for ${command}, and does nothing`).toEqual([])
  }
})
