import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Plugin } from 'vite'

const NAME = 'virtual:extra-kinds'

/**
 * Task kinds that are no part of the product: `CONCORD_KINDS=some/folder` bundles every folder in it that has an
 * `index.ts`, as if it stood in `src/kinds/`. They import from the product as `concord/kinds/kind.ts`. Where it is not
 * set, nothing is added.
 */
export function extraKinds(folder = process.env.CONCORD_KINDS): Plugin {
  return {
    name: 'extra-kinds',
    config: (_, { command }) => ({
      resolve: { alias: { 'concord/': `${resolve(import.meta.dirname, '../src')}/` }, dedupe: ['svelte'] },
      ...(folder && command === 'serve' ? { server: { fs: { allow: [resolve(import.meta.dirname, '..'), resolve(folder)] } } } : {}),
    }),
    resolveId: (id) => (id === NAME ? `\0${NAME}` : undefined),
    load: (id) => (id === `\0${NAME}` ? moduleOf(folder) : undefined),
  }
}

/** The module that imports them. */
export function moduleOf(folder: string | undefined): string {
  const found = folder ? readdirSync(folder).map((kind) => resolve(join(folder, kind, 'index.ts'))).filter((path) => existsSync(path)).sort() : []
  if (folder && !found.length) throw new Error(`CONCORD_KINDS: no folder in ${folder} has an index.ts.`)
  return [...found.map((path, n) => `import kind${n} from ${JSON.stringify(path)}`), `export default [${found.map((_, n) => `kind${n}`).join(', ')}]`].join('\n')
}
