/** Every kind of the API has a folder here, and no shared file imports from it. */

import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { sharedBindings } from '../work/keys.ts'
import { kindOf, kinds, loadColumns, loadCurrentValues, valuesInWords } from './index.ts'

const SRC = join(import.meta.dirname, '..')
const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((f) => f.isDirectory()).map((f) => f.name).sort()

/** Kinds as the server has them. */
function ofTheApi(): string[] {
  const schema = readFileSync(join(SRC, '../schema.yml'), 'utf8')
  const names = /^ {4}TaskKindEnum:\n {6}enum:\n((?: {6}- .*\n)+)/m.exec(schema)![1]!
  return names.trim().split('\n').map((line) => line.replace(/^\s*- /, '')).sort()
}

const shared = readdirSync(SRC, { recursive: true, withFileTypes: true })
  .filter((f) => f.isFile() && /\.(ts|svelte)$/.test(f.name) && !/\.test\.ts$/.test(f.name))
  .map((f) => relative(SRC, join(f.parentPath, f.name)))
  .filter((file) => file !== 'api/schema.d.ts' && !folders.some((kind) => file.startsWith(`kinds/${kind}/`)))

it('has a folder for every kind of the API, and no other', () => {
  expect(folders).toEqual(ofTheApi())
  expect(kinds.map((k) => k.key).sort()).toEqual(folders)
  expect(kindOf('of a newer server')).toBeUndefined()
})

it('begins with the one usual kind', () => {
  expect(kinds[0]!.key).toBe('label')
  expect(kinds.slice(1).map((k) => k.key)).toEqual(folders.filter((key) => key !== 'label'))
  expect(kinds.filter((k) => k.usual)).toHaveLength(1)
})

it('is imported by no shared file', () => {
  expect(shared.length).toBeGreaterThan(100)
  const imports = new RegExp(`from '[^']*kinds/(${folders.join('|')})/`)
  expect(shared.filter((file) => imports.test(readFileSync(join(SRC, file), 'utf8')))).toEqual([])
})

it('has columns whose keys are no other kind\'s, in a fixed order', async () => {
  const { ofClaims, ofClusters } = await loadColumns()
  for (const kinds of [ofClaims, ofClusters]) {
    const keys = kinds.flatMap((c) => c.columns.map((column) => column.key))
    expect(new Set(keys).size).toBe(keys.length)
  }
  expect(ofClusters.map((c) => c.kind)).toEqual(['tuple', 'discourse'])
})

it('loads what each has for the pages', async () => {
  for (const kind of kinds) {
    const { default: task } = await kind.task()
    expect(task.inWords(null), kind.key).toBe('')
    expect(task.editor, kind.key).toBeTruthy()
    expect(task.reading, kind.key).toBeTruthy()
  }
  expect((await loadCurrentValues()).map((k) => k.kind)).toEqual(['discourse', 'label', 'tuple'])
})

it('has no key twice, and none of those that every task has', async () => {
  const shared = sharedBindings.flatMap((b) => b.keys)
  for (const kind of kinds) {
    const { default: task } = await kind.task()
    const keys = [...shared, ...task.bindings.flatMap((b) => b.keys)]
    expect(keys.filter((key, n) => keys.indexOf(key) !== n), kind.key).toEqual([])
  }
})

it('has units to try that agree with themselves, with cues that stand in their texts', async () => {
  const withTutorial = kinds.filter((k) => k.tutorial)
  expect(withTutorial.map((k) => k.key)).toEqual(kinds.map((k) => k.key))
  for (const kind of withTutorial) {
    const [{ default: tutorial }, { default: task }] = await Promise.all([kind.tutorial!(), kind.task()])
    expect(tutorial.units).toHaveLength(3)
    for (const unit of tutorial.units) {
      expect(unit.same(unit.expected), unit.why).toBe(true)
      expect(unit.card.kind).toBe(kind.key)
      expect(task.textOf(unit.card)).not.toBe('')
      const text = task.textOf(unit.card)
      for (const cue of Object.values(unit.expected).filter(Array.isArray).flat().filter((one) => one instanceof Object && 'quote' in one)) expect(text.slice(cue.start, cue.end)).toBe(cue.quote)
    }
  }
})

it('says a field as its kind does, and as it is where the kind is not known', () => {
  expect(valuesInWords('of a newer server', [{ field: 'x', value: 'y' }])).toBe('y')
  expect(valuesInWords('label', [{ field: 'polarity', value: 'negative' }, { field: 'polarity_cue', value: 'no cue' }], true)).toBe('− negative')
})
