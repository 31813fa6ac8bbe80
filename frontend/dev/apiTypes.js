// Write src/api/schema.d.ts, the types of the API, from schema.yml. A file that is up to date is left untouched, so that a
// build and a type check can run at the same time.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript'

const source = new URL('../schema.yml', import.meta.url)
const target = new URL('../src/api/schema.d.ts', import.meta.url)
const digest = `// Source: schema.yml, SHA-256 ${createHash('sha256').update(readFileSync(source)).digest('hex')}\n`

if (!existsSync(target) || !readFileSync(target, 'utf8').startsWith(digest)) {
  writeFileSync(target, digest + COMMENT_HEADER + astToString(await openapiTS(source)))
}
