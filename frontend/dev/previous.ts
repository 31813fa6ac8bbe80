import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Plugin } from 'vite'

const LIST = '.vite/build.json'

/** Files under `root`, as paths relative to it. */
function filesOf(root: string): string[] {
  if (!existsSync(root)) return []
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((f) => f.isFile())
    .map((f) => relative(root, join(f.parentPath, f.name)))
}

function read(path: string): string[] {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as string[]) : []
}

/**
 * Keeps the hashed chunks of the build before this one, and of no older one: a tab that was opened before a
 * deployment still finds the pages that it loads on demand.
 */
export function keepPreviousBuild(): Plugin {
  let out = ''
  let before: string[] = []
  return {
    name: 'keep-previous-build',
    apply: 'build',
    configResolved(config) {
      out = resolve(config.root, config.build.outDir)
    },
    buildStart() {
      before = read(join(out, LIST))
    },
    writeBundle(_, bundle) {
      const now = Object.keys(bundle)
      // The same sources built twice give the same names: then the older generation is still the previous one.
      const same = before.length === now.length && now.every((f) => before.includes(f))
      const spared = same ? read(join(out, '.vite/previous.json')) : before.filter((f) => f.startsWith('assets/'))
      const stay = new Set([...now, ...spared])
      for (const file of filesOf(out)) {
        if (!stay.has(file.replace(/\.(gz|br)$/, '')) && !file.startsWith('.vite')) rmSync(join(out, file))
      }
      mkdirSync(dirname(join(out, LIST)), { recursive: true })
      writeFileSync(join(out, LIST), JSON.stringify(now))
      writeFileSync(join(out, '.vite/previous.json'), JSON.stringify(spared))
    },
  }
}
