import type { Schemas } from '../../api/client.ts'

export const ROLES: readonly { key: Schemas['GivenRoleEnum']; may: string }[] = [
  { key: 'annotator', may: 'works in assigned rounds' },
  { key: 'evaluator', may: 'rates summaries without seeing which system wrote them' },
  { key: 'curator', may: 'adjudicates, corrects current values, sees names and agreement' },
  { key: 'viewer', may: 'reads the corpus, rounds and results' },
  { key: 'lead', may: 'manages people, imports, rounds and releases; has all other permissions' },
]
