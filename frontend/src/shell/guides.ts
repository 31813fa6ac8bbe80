import type { paths } from '../api/schema.d.ts'

export type Guide = paths['/api/v1/guides/']['get']['parameters']['query']['guide']

/** The guides of docs/, with their titles, grouped by reader. Their keys are the server's (config/urls.py). */
export const guideGroups: readonly (readonly [string, readonly (readonly [Guide, string])[]])[] = [
  ['Annotators', [['annotator', 'Annotate'], ['tasks', 'Other tasks'], ['write', 'Write summaries']]],
  ['Leads: data', [['lead', 'Run a project'], ['corpus', 'Import a corpus'], ['pubmed', 'Search PubMed'], ['mapping', 'Map evidence'], ['curate', 'Curate and correct'], ['counterfactuals', 'Counterfactuals'], ['splits', 'Splits'], ['releases', 'Freeze a release'], ['load', 'Load a release'], ['cite', 'Cite and trace a release']]],
  ['Leads: rounds', [['rounds', 'Rounds'], ['agreement', 'Agreement and adjudication'], ['ratings', 'Rating rounds'], ['crowd', 'Recruit raters']]],
  ['Leads: systems', [['systems', 'Generate summaries'], ['train', 'Train a model'], ['results', 'Results'], ['metrics', 'Metrics'], ['measures', 'How figures are computed']]],
  ['Administrators', [['admin', 'Install a server'], ['proxy', 'Proxy'], ['settings', 'Settings and limits'], ['signin', 'Sign-in and e-mail'], ['models', 'Models and endpoints'], ['operations', 'Operate a server']]],
]

export const guides = guideGroups.flatMap(([, list]) => list)
