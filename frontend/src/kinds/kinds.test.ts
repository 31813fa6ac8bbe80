/** The house: every kind of the API has a folder here, found by itself, and no shared file knows any of them. */

import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { sharedBindings } from '../work/keys.ts'
import { kindOf, kinds, loadColumns, loadInForce, said } from './index.ts'

const SRC = join(import.meta.dirname, '..')
const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((f) => f.isDirectory()).map((f) => f.name).sort()

/** Kinds as the server has them. */
function ofTheApi(): string[] {
  const schema = readFileSync(join(SRC, 'api/schema.d.ts'), 'utf8')
  return /^\s*TaskKindEnum: (.*);$/m.exec(schema)![1]!.split(' | ').map((name) => name.replaceAll('"', '')).sort()
}

/** What only the kinds know: fields of their values, options and policies. */
const FIELDS = [...new Set(kinds.flatMap((k) => k.fields ?? []).filter((field) => field !== 'tuple'))]
const WORDS = [...FIELDS, 'cue', 'cues', '\\w*_cue', 'candidates', 'suggestions', 'suggested', 'polarities', 'modalities']

interface Exempt {
  what: RegExp
  why: string
}
/** Shared files that must name something of a kind, and why. */
const EXEMPT: Record<string, Exempt> = {
  'parts/CounterfactualCounts.svelte': { what: /polarity|'counterfactual'/g, why: 'A counterfactual makes a claim of one polarity false: the corpus counts them by it.' },
  'rating/protocol.ts': { what: /polarity|modality/g, why: 'A protocol says which part of a target stands beside a question.' },
  'rating/samples.ts': { what: /polarity|modality|'pico'/g, why: "M3's protocol, to try things on." },
  'pages/Protocol.svelte': { what: /["'](rate|compare)["']/g, why: 'What a new protocol is of; Compare is a tab.' },
  'protocols/ContentEditor.svelte': { what: /['"](rate|compare|tuple)['"]|polarity|modality/g, why: 'What of a target is shown, and what a protocol is of.' },
  'protocols/CriterionEditor.svelte': { what: /'(rate|compare|label)'|polarity|modality/g, why: 'What of a target stands beside a question; one of several labels.' },
  'protocols/draft.ts': { what: /'(rate|compare)'|modality/g, why: 'What a protocol is of, and standard names.' },
  'rating/Source.svelte': { what: /'studies'/g, why: 'A source has studies.' },
  'curate/Sentences.svelte': { what: /'studies'/g, why: 'Studies are counted.' },
  'pages/Evidence.svelte': { what: /'studies'/g, why: 'Studies are counted.' },
  'protocols/sample.ts': { what: /'compare'|polarity|modality/g, why: 'A page to try a protocol on, with all of its target.' },
  'pages/ReliabilityStudy.svelte': { what: /\bcues\b|\bcandidates\b|'sentences'/g, why: 'It plans rounds of two kinds together, and says what these ask.' },
  'palette/Palette.svelte': { what: /'match'/g, why: 'What a search finds.' },
  'parts/ParticipantLinks.svelte': { what: /'label'/g, why: 'What a lead calls a link, the column of a table.' },
}

/** What a person reads and what explains the code may speak of cues; code may not. */
function codeOf(file: string, text: string): string {
  const script = file.endsWith('.svelte') ? text.replace(/<style>[\s\S]*<\/style>/, '') : text
  return script.replace(/\/\*[\s\S]*?\*\//g, '').replace(/<!--[\s\S]*?-->/g, '').replace(/(^|\s)\/\/.*$/gm, '')
}

/** Every place in a shared file that knows a kind, as "file: word". */
function known(file: string, text: string): string[] {
  const code = codeOf(file, text).replace(EXEMPT[file]?.what ?? /(?!)/g, '')
  const keys = new RegExp(`(['"\`])(${folders.join('|')})\\1|kinds/(${folders.join('|')})/`, 'g')
  const fields = new RegExp(`(?<![\\w-])(${WORDS.join('|')})(?![\\w-])`, 'g')
  return [...code.matchAll(keys), ...code.matchAll(fields)].map((m) => `${file}: ${m[0]}`)
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
  expect(kinds.map((k) => k.key)).toEqual(['label', 'assign_evidence', 'blind_check', 'compare', 'counterfactual', 'discourse', 'evidence', 'match', 'pico', 'rate', 'screen', 'sentences', 'studies', 'tuple'])
  expect(kinds.filter((k) => k.usual)).toHaveLength(1)
})

it('knows no kind in shared files', () => {
  expect(shared.length).toBeGreaterThan(100)
  expect(shared.flatMap((file) => known(file, readFileSync(join(SRC, file), 'utf8')))).toEqual([])
})

it.each([
  ["form.set('kind', 'label')", "'label'"],
  ['if (round.kind === "discourse") return', '"discourse"'],
  ["import { SLOTS } from '../kinds/tuple/state.ts'", '/tuple/'],
  ['<p>{p.polarity?.value}</p>', 'polarity'],
  ["s.field.endsWith('_cue')", '_cue'],
  ['cues = $state(r.policy.cues)', 'cues'],
  ['card.candidates?.length', 'candidates'],
])('would find %s', (planted, what) => {
  expect(known('pages/Any.svelte', planted).join()).toContain(what)
})

it('exempts only what is there', () => {
  for (const [file, { what }] of Object.entries(EXEMPT)) expect(codeOf(file, readFileSync(join(SRC, file), 'utf8')), file).toMatch(what)
})

it('leaves prose and styles alone', () => {
  expect(known('a.svelte', '<!-- a cue --><style>.cues { color: red }</style>')).toEqual([])
  expect(known('a.ts', '/** Polarity and its cue. */ const a = 1 // the cues')).toEqual([])
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
  expect((await loadInForce()).map((k) => k.kind)).toEqual(['discourse', 'label', 'tuple'])
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
  const trials = kinds.filter((k) => k.trial)
  expect(trials.map((k) => k.key)).toEqual(kinds.map((k) => k.key))
  for (const kind of trials) {
    const [{ default: trial }, { default: task }] = await Promise.all([kind.trial!(), kind.task()])
    expect(trial.units).toHaveLength(3)
    for (const unit of trial.units) {
      expect(unit.same(unit.expected), unit.why).toBe(true)
      expect(unit.card.kind).toBe(kind.key)
      expect(task.textOf(unit.card)).not.toBe('')
      const text = task.textOf(unit.card)
      for (const cue of Object.values(unit.expected).filter(Array.isArray).flat().filter((one) => one instanceof Object && 'quote' in one)) expect(text.slice(cue.start, cue.end)).toBe(cue.quote)
    }
  }
})

it('says a field as its kind does, and as it is where the kind is not known', () => {
  expect(said('of a newer server', [{ field: 'x', value: 'y' }])).toBe('y')
  expect(said('label', [{ field: 'polarity', value: 'negative' }, { field: 'polarity_cue', value: 'no cue' }], true)).toBe('− negative')
})
