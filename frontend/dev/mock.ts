import { readFileSync, existsSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import type { Plugin } from 'vite'

/**
 * A server of one round, for `npm run dev` only: enough to work on the pages before, or without, the real one. It
 * forgets everything when it stops. `CONCORD_API=http://localhost:8000 npm run dev` uses a real one instead.
 */
export function mockServer(): Plugin {
  return {
    name: 'mock-server',
    apply: 'serve',
    config: () => (process.env.CONCORD_API ? { server: { proxy: { '/api': { target: process.env.CONCORD_API, changeOrigin: false } } } } : {}),
    configureServer(server) {
      if (process.env.CONCORD_API || process.env.VITEST) return
      const world = makeWorld()
      server.middlewares.use('/api/v1', (request, response) => {
        void bodyOf(request).then((body) => {
          const [status, reply] = answer(world, request.method ?? 'GET', (request.url ?? '').split('?')[0]!, body)
          response.writeHead(status, { 'Content-Type': status < 400 ? 'application/json' : 'application/problem+json' })
          response.end(reply === undefined ? '' : JSON.stringify(reply))
        })
      })
    },
  }
}

interface MockCard {
  assignment: number
  revision: number
  value: unknown
  outcome: string | null
  answered_at: string | null
  comment: string
  flag: boolean
  [key: string]: unknown
}

/** A sentence and its tuple, P I C O. */
type Sentence = [string, string, string, string, string]

const SENTENCES: Sentence[] = [
  ['The pooled evidence confirmed that, compared with drug A, drug B was associated with equivalent effects on visual acuity at 1 year and with a higher risk of serious adverse events.', '[adults with the disease]', 'drug B', 'drug A', 'visual acuity at 1 year'],
  ['Neither the infection nor seropositivity for virulent strains have significant association with the occurrence of the disease of any type.', '', 'the infection', '', 'the disease'],
  ['This review found that supplementation in people with the disease for periods up to five years does not reduce the risk of progression to advanced disease or the development of moderate to severe visual loss.', 'the disease', 'supplementation for periods up to five years', '', 'risk of progression to advanced disease or the development of moderate to severe visual loss'],
  ['Drug B was noninferior to drug A for visual acuity at 1 year with similar safety profiles.', '', 'Drug B', 'drug A', 'visual acuity at 1 year'],
  ['Although the makers advertise the Device® PRO as superior, the present review could neither confirm nor deny considerable agreement between tonometry and Device® PRO in patients.', 'patients', 'Device® PRO', 'tonometry', 'agreement'],
  ['TGF-𝛽2 levels may be raised in the aqueous humour, which suggests a possible causal link with the disease (odds ratio [OR], 1.9; 95% CI, 1.1–3.2).', '', 'TGF-𝛽2', '', 'the disease'],
]

interface World {
  cards: MockCard[]
  stored: Map<string, [string, unknown]>
  recent: MockCard[]
  in: boolean
}

function makeWorld(): World {
  const extra = process.env.CONCORD_SENTENCES
  const list = extra && existsSync(extra) ? (JSON.parse(readFileSync(extra, 'utf8')) as Sentence[]) : SENTENCES
  const cards = Array.from({ length: Math.max(40, list.length) }, (_, i): MockCard => {
    const [text, ...elements] = list[i % list.length]!
    const pico = (['p', 'i', 'c', 'o'] as const).map((element, n) => {
      const said = elements[n]!
      const at = said ? text.toLowerCase().indexOf(said.toLowerCase()) : -1
      const start = at < 0 ? 0 : [...text.slice(0, at)].length
      const form = !said ? 'blank' : said.startsWith('[') ? 'implied' : 'explicit'
      return { element, form, text: said, fragments: at < 0 ? [] : [{ start, end: start + [...said].length }] }
    })
    return {
      assignment: 100 + i, kind: 'label', revision: 0, shown: 1, position: i, unit: { id: i + 1, key: `unit ${i + 1}` }, text,
      role: i % 6 ? 'input' : 'target', pico, context: { key: 'cluster 1', index: (i % 6) + 1, size: 6 }, candidates: null, value: null,
      outcome: null, answered_at: null, comment: '', flag: false,
    }
  })
  return { cards, stored: new Map(), recent: [], in: true }
}

const SESSION = {
  user: { id: 1, email: 'annotator@example.org', name: 'Ada Annotator', preferences: { single_keys: true, theme: 'auto' } },
  projects: [{ slug: 'illustration', name: 'Illustration', role: 'annotator', illustrative: true, may: ['work in rounds'] }],
}
const REASONS = [
  { code: 'unclear', text: 'The text is unclear' },
  { code: 'pico mismatch', text: 'It is not about this PICO tuple' },
  { code: 'not my field', text: 'I cannot judge this' },
]
const GUIDELINE = '<h2>Polarity</h2><p>The direction of the effect on the outcome.</p><ul><li><strong>positive</strong>: “X reduced pain”.</li></ul>'
  + '<h2>Modality</h2><p>How strongly the text claims it.</p>'

const problem = (status: number, type: string, detail: string, more = {}): [number, unknown] => [
  status, { type: `/problems/${type}`, title: detail, status, detail, ...more },
]

function answer(world: World, method: string, path: string, body: string): [number, unknown] {
  const held = () => world.cards.filter((c) => !c.revision).slice(0, 2)
  if (path === '/session/' && method === 'DELETE') {
    world.in = false
    return [204, undefined]
  }
  if (path.startsWith('/session/') && method === 'POST') world.in = true
  if (!world.in) return problem(401, 'not-authenticated', 'Sign in to go on.')
  if (path.startsWith('/session/')) return [200, SESSION]
  const done = world.cards.filter((c) => c.revision).length
  if (path.endsWith('/next/')) {
    return [200, { held: held().map((c) => c.assignment), fetched: held(), progress: { done, total: world.cards.length } }]
  }
  if (path.endsWith('/recent/')) return [200, { cards: world.recent.slice(0, 10) }]
  if (path.startsWith('/rounds/')) {
    return [200, {
      id: 1, name: 'Reliability study', project: 'illustration', project_name: 'Illustration', illustrative: true, kind: 'label',
      purpose: 'measure only', status: 'open', overlap: 3, options: { suggestions: false }, skip_reasons: REASONS,
      guideline: { id: 1, number: 2, text: '', html: GUIDELINE },
    }]
  }
  const uuid = /^\/answers\/([^/]+)\/$/.exec(path)?.[1]
  if (!uuid || method !== 'PUT') return problem(404, 'not-found', 'Not found, or no access.')
  const old = world.stored.get(uuid)
  if (old) return old[0] === body ? [200, old[1]] : problem(409, 'uuid-reused', 'This identifier was used for another answer.')
  const sent = JSON.parse(body) as MockCard & { have: number[] }
  const card = world.cards.find((c) => c.assignment === sent.assignment)
  if (!card) return problem(404, 'not-found', 'This is not one of your assignments.')
  if (sent.comment === 'refuse me') return problem(422, 'refused', 'The comment asks to be refused.', { errors: [{ field: 'comment', message: 'Refused.' }] })
  if (card.revision !== sent.revision) {
    return problem(409, 'stale-revision', 'A newer revision of this answer is stored.', { current: { revision: card.revision, value: card.value, outcome: card.outcome } })
  }
  Object.assign(card, {
    revision: sent.revision + 1, value: sent.value, outcome: sent.outcome, comment: sent.comment, flag: sent.flag, answered_at: new Date().toISOString(),
  })
  world.recent = [card, ...world.recent.filter((c) => c !== card)]
  const reply = {
    answer: { uuid, assignment: card.assignment, revision: card.revision, outcome: card.outcome, received_at: card.answered_at, counted: true },
    held: held().map((c) => c.assignment), fetched: held().filter((c) => !sent.have.includes(c.assignment)),
  }
  world.stored.set(uuid, [body, reply])
  return [201, reply]
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}
