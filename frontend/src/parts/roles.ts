import type { Schemas } from '../api/client.ts'

export const ROLES: readonly { key: Schemas['GivenRoleEnum']; may: string }[] = [
  { key: 'annotator', may: 'works in the rounds that a lead puts them into' },
  { key: 'evaluator', may: 'rates summaries in rounds, without learning which system wrote them' },
  { key: 'curator', may: 'decides where answers differ, corrects values, sees names and agreement' },
  { key: 'viewer', may: 'reads the corpus, rounds and results' },
  { key: 'lead', may: 'does everything: people, imports, rounds, releases' },
]
