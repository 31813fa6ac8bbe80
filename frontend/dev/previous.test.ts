import { existsSync, mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { keepPreviousBuild } from './previous.ts'

let root: string
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'dist-'))))
afterEach(() => rmSync(root, { recursive: true }))

/** One build, as Vite runs the plugin: files are written, then the plugin clears up. */
function build(...files: string[]) {
  buildInto('dist', ...files)
}
function buildInto(outDir: string, ...files: string[]) {
  const plugin = keepPreviousBuild() as unknown as Record<string, (...args: unknown[]) => void>
  plugin.configResolved!({ root, build: { outDir } })
  plugin.buildStart!()
  mkdirSync(resolve(root, outDir, 'assets'), { recursive: true })
  for (const f of files) writeFileSync(resolve(root, outDir, f), f)
  plugin.writeBundle!({}, Object.fromEntries(files.map((f) => [f, {}])))
}
const exists = (file: string) => existsSync(join(root, 'dist', file))

it('keeps the chunks of the build before, and of no older one', () => {
  build('index.html', 'assets/a.js')
  build('index.html', 'assets/b.js')
  expect([exists('assets/a.js'), exists('assets/b.js')]).toEqual([true, true])
  build('index.html', 'assets/c.js')
  expect([exists('assets/a.js'), exists('assets/b.js'), exists('assets/c.js')]).toEqual([false, true, true])
})

it('does not forget them when the same sources are built again', () => {
  build('index.html', 'assets/a.js')
  build('index.html', 'assets/b.js')
  build('index.html', 'assets/b.js')
  expect(exists('assets/a.js')).toBe(true)
})

it('keeps its list beside a build that goes elsewhere', () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'elsewhere-'))
  buildInto(elsewhere, 'index.html', 'assets/a.js')
  expect(existsSync(join(elsewhere, '.vite/build.json'))).toBe(true)
  rmSync(elsewhere, { recursive: true })
})
