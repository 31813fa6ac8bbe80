import type { paths } from '../api/schema.d.ts'

export type Guide = paths['/api/v1/guides/']['get']['parameters']['query']['guide']

/** The guides of docs/, with their titles, grouped by reader. Their keys are the server's (config/urls.py). */
export const guideGroups: readonly (readonly [string, readonly (readonly [Guide, string])[]])[] = [
  ['Start', [['tutorial', 'Tutorial: label and measure'], ['tutorial-systems', 'Tutorial: compare systems'], ['tutorial-release', 'Tutorial: release'], ['lead', 'Run a project']]],
  ['Annotate', [['annotator', 'Annotate'], ['after', 'Before, during and after a round'], ['tasks', 'Reviews and evidence'], ['propositions', 'Propositions and summaries'], ['write', 'Write summaries']]],
  ['Corpus', [['corpus', 'Bring a corpus'], ['columns', 'Your own tables'], ['published', 'MS^2, MSLR, MEDIQA-AnS'], ['pubmed', 'Search PubMed and screen'], ['records', 'PubMed records and full texts'], ['mapping', 'Map evidence'], ['curate', 'Curate and correct'], ['consistency', 'Check labels'], ['counterfactuals', 'Counterfactuals']]],
  ['Rounds', [['rounds', 'Open and run a round'], ['practice', 'Practice and guidelines'], ['volunteers', 'Volunteers'], ['crowd', 'Crowd raters'], ['pay', 'Pay and privacy'], ['study', 'Reliability study'], ['agreement', 'Agreement and adjudication'], ['protocols', 'Rating protocols'], ['ratings', 'Rating rounds'], ['external', 'Import ratings']]],
  ['Systems', [['systems', 'Generate summaries'], ['train', 'Train a model'], ['checkpoints', 'Interrupted trainings'], ['readings', 'Read texts with a model'], ['results', 'Score and read results'], ['export', 'Figures and tables for papers'], ['splits', 'Splits']]],
  ['Releases', [['releases', 'Release'], ['load', 'Load a release'], ['cite', 'Cite, deposit and trace']]],
  ['Server', [['admin', 'Install a server'], ['processes', 'Processes by hand'], ['proxy', 'Proxy'], ['signin', 'Sign-in and e-mail'], ['models', 'Workers with models'], ['endpoints', 'Endpoints'], ['operations', 'Operate a server'], ['backup', 'Back up and restore']]],
  ['Reference', [['roles', 'Roles'], ['commands', 'Commands'], ['formats', 'How tables are read'], ['figures', 'All figures'], ['metrics', 'ROUGE, BLEU, BERTScore'], ['copying', 'Copying and the probe'], ['direction', 'Direction and delta-EI'], ['measures', 'Tables and comparisons'], ['judgements', 'Figures of ratings'], ['intervals', 'Intervals'], ['coverage', 'Coverage of intervals'], ['settings', 'Settings'], ['limits', 'Limits']]],
]

export const guides = guideGroups.flatMap(([, list]) => list)
