import { find } from '../routes.ts'
import type { paths } from '../api/schema.d.ts'

export type Guide = paths['/api/v1/guides/']['get']['parameters']['query']['guide']

/** The guides of docs/, with their titles, grouped by reader. Their keys are the server's (config/urls.py). */
export const guideGroups: readonly (readonly [string, readonly (readonly [Guide, string])[]])[] = [
  ['Start', [['tutorial', 'Tutorial: label and measure'], ['tutorial-systems', 'Tutorial: compare systems'], ['tutorial-release', 'Tutorial: release'], ['lead', 'Run a project']]],
  ['Annotate', [['annotator', 'Annotate'], ['after', 'Before, during and after a round'], ['tasks', 'Reviews and evidence'], ['propositions', 'Propositions and summaries'], ['write', 'Write summaries']]],
  ['Corpus', [['corpus', 'Bring a corpus'], ['columns', 'Your own tables'], ['published', 'MS^2, MSLR, MEDIQA-AnS'], ['pubmed', 'Search PubMed and screen'], ['records', 'PubMed records and full texts'], ['mapping', 'Map evidence'], ['curate', 'Curate and correct'], ['consistency', 'Check labels'], ['counterfactuals', 'Counterfactuals']]],
  ['Rounds', [['rounds', 'Open and run a round'], ['pilots', 'Pilots'], ['practice', 'Practice and guidelines'], ['accuracy', 'Accuracy during a round'], ['changes', 'Change a guideline'], ['suggestions', 'Suggestions by models'], ['volunteers', 'Volunteers'], ['crowd', 'Crowd raters'], ['pay', 'Pay and privacy'], ['study', 'Reliability study'], ['agreement', 'Agreement and adjudication'], ['protocols', 'Rating protocols'], ['ratings', 'Rating rounds'], ['judges', 'Models as judges'], ['external', 'Import ratings']]],
  ['Systems', [['systems', 'Generate summaries'], ['train', 'Train a model'], ['checkpoints', 'Interrupted trainings'], ['readings', 'Read texts with a model'], ['results', 'Score and read results'], ['export', 'Figures and tables for papers'], ['splits', 'Splits']]],
  ['Releases', [['releases', 'Release'], ['methods', 'Methods text'], ['load', 'Load a release'], ['cite', 'Cite, deposit and trace']]],
  ['Server', [['admin', 'Install a server'], ['processes', 'Processes by hand'], ['proxy', 'Proxy'], ['signin', 'Sign-in and e-mail'], ['models', 'Workers with models'], ['endpoints', 'Endpoints'], ['operations', 'Operate a server'], ['backup', 'Back up and restore']]],
  ['Reference', [['roles', 'Roles'], ['commands', 'Commands'], ['formats', 'How tables are read'], ['figures', 'All figures'], ['metrics', 'ROUGE, BLEU, BERTScore'], ['copying', 'Copying and the probe'], ['direction', 'Direction and delta-EI'], ['measures', 'Tables and comparisons'], ['judgements', 'Figures of ratings'], ['worth', 'What a judge is worth'], ['intervals', 'Intervals'], ['coverage', 'Coverage of intervals'], ['settings', 'Settings'], ['limits', 'Limits']]],
]

export const guides = guideGroups.flatMap(([, list]) => list)

/** Guide of each page (guide#section), by the path of its route. Not in `routes.ts`, which every page loads. */
const ofPages: Record<string, string> = {
  '/': 'annotator',
  '/work/:round': 'annotator#one-proposition',
  '/projects': 'lead#from-nothing-to-a-release',
  '/projects/:project': 'lead#from-nothing-to-a-release',
  '/projects/:project/corpus': 'corpus',
  '/projects/:project/corpus/:cluster': 'curate#correct-one-value',
  '/projects/:project/origin/:unit': 'cite#trace-a-value',
  '/projects/:project/import': 'corpus#import-a-file',
  '/projects/:project/import/:imported': 'corpus',
  '/projects/:project/pubmed': 'pubmed',
  '/projects/:project/ranking': 'mapping',
  '/projects/:project/readings': 'readings',
  '/projects/:project/suggestions': 'suggestions',
  '/projects/:project/needs-review': 'curate#correct-a-text-or-a-tuple',
  '/projects/:project/reviews/:review': 'published#reviews-of-ms-2',
  '/projects/:project/studies/:study': 'published#reviews-of-ms-2',
  '/projects/:project/reviews/:review/curate': 'curate',
  '/projects/:project/rounds': 'rounds',
  '/projects/:project/rounds/new': 'rounds',
  '/projects/:project/rounds/:round': 'rounds',
  '/projects/:project/rounds/:round/adjudicate': 'agreement#adjudication',
  '/projects/:project/rounds/:round/agreement': 'agreement',
  '/projects/:project/writers': 'agreement',
  '/projects/:project/systems': 'systems',
  '/projects/:project/systems/new': 'systems',
  '/projects/:project/systems/outputs': 'systems',
  '/projects/:project/systems/runs/:run': 'systems#runs',
  '/projects/:project/systems/:system': 'systems',
  '/projects/:project/systems/:system/new': 'systems',
  '/projects/:project/trainings': 'train',
  '/projects/:project/trainings/new': 'train',
  '/projects/:project/trainings/:training': 'train',
  '/projects/:project/protocols': 'protocols',
  '/projects/:project/protocols/:version': 'protocols',
  '/projects/:project/judges': 'judges',
  '/projects/:project/judges/new': 'judges',
  '/projects/:project/judges/runs/:run': 'judges',
  '/projects/:project/judges/:judge': 'judges',
  '/projects/:project/results': 'results',
  '/projects/:project/releases': 'releases',
  '/projects/:project/methods': 'methods',
  '/projects/:project/splits': 'splits',
  '/projects/:project/releases/:release': 'releases',
  '/projects/:project/guidelines': 'changes',
  '/projects/:project/people': 'lead#people',
  '/projects/:project/settings': 'lead#from-nothing-to-a-release',
}

/** The guide of the page at an address. */
export const guideOf = (pathname: string): string => ofPages[find(pathname)?.route.path ?? ''] ?? 'annotator'
