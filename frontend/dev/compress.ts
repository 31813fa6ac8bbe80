import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Plugin } from 'vite'

const TEXT = /\.(js|css|svg|json)$/
/** A smaller file fits into one packet as it is. */
const LEAST = 1000

/** Writes a gzip and a Brotli file beside each text file of the bundle: the server sends them, and compresses nothing itself. */
export function compressFiles(): Plugin {
  let out = ''
  return {
    name: 'compress-files',
    apply: 'build',
    configResolved(config) {
      out = resolve(config.root, config.build.outDir)
    },
    writeBundle: {
      order: 'post',
      handler(_, bundle) {
        for (const name of Object.keys(bundle).filter((f) => TEXT.test(f) && !f.startsWith('.vite'))) {
          const path = join(out, name)
          const bytes = readFileSync(path)
          if (bytes.length < LEAST || existsSync(`${path}.br`)) continue
          writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
          writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }))
        }
      },
    },
  }
}
