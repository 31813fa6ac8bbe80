import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { moduleOf } from './kinds.ts'

let folder = ''
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'kinds-'))))
afterEach(() => rmSync(folder, { recursive: true }))

it('adds nothing where no folder is given', () => {
  expect(moduleOf(undefined)).toBe('export default []')
  expect(moduleOf('')).toBe('export default []')
})

it('finds the kinds of a folder by themselves, in order', () => {
  for (const kind of ['pairs', 'blank', 'no-kind']) mkdirSync(join(folder, kind))
  for (const kind of ['pairs', 'blank']) writeFileSync(join(folder, kind, 'index.ts'), 'export default {}')
  expect(moduleOf(folder).split('\n')).toEqual([
    `import kind0 from ${JSON.stringify(join(folder, 'blank/index.ts'))}`, `import kind1 from ${JSON.stringify(join(folder, 'pairs/index.ts'))}`,
    'export default [kind0, kind1]',
  ])
})

it('says that a folder holds none', () => {
  expect(() => moduleOf(folder)).toThrow(/no folder in .* has an index\.ts/)
})
