/** Values of the citation form: names of roles and relations, and rows as the API has them. */

import type { Schemas } from '../../api/client.ts'

export type Creator = Required<Schemas['Creator']>
export type Funder = Omit<Required<Schemas['Funder']>, 'scheme'>
export type Related = Schemas['RelatedIdentifier']

/** Labels of the CRediT roles that are not the role with a capital letter. */
const LABELS: Partial<Record<Schemas['RolesEnum'], string>> = {
  'writing - original draft': 'Writing: original draft',
  'writing - review & editing': 'Writing: review and editing',
}
const ROLES: Record<Schemas['RolesEnum'], true> = {
  conceptualization: true, 'data curation': true, 'formal analysis': true, 'funding acquisition': true, investigation: true,
  methodology: true, 'project administration': true, resources: true, software: true, supervision: true, validation: true,
  visualization: true, 'writing - original draft': true, 'writing - review & editing': true,
}
export const roles = (Object.keys(ROLES) as Schemas['RolesEnum'][]).map((key) => [key, LABELS[key] ?? key[0]!.toUpperCase() + key.slice(1)] as const)

/** DataCite's relations, the usual ones first. */
const RELATIONS: Record<Schemas['RelatedIdentifierRelationEnum'], true> = {
  IsDescribedBy: true, IsSupplementTo: true, IsDerivedFrom: true, IsSourceOf: true, IsVersionOf: true, HasVersion: true, IsNewVersionOf: true,
  IsPreviousVersionOf: true, IsPartOf: true, HasPart: true, References: true, IsReferencedBy: true, Cites: true, IsCitedBy: true,
  IsDocumentedBy: true, IsCompiledBy: true, Requires: true, IsRequiredBy: true, Reviews: true, IsReviewedBy: true, Continues: true,
  IsContinuedBy: true, Obsoletes: true, IsObsoletedBy: true, IsIdenticalTo: true, IsVariantFormOf: true,
}
/** DataCite's word as a phrase: IsDescribedBy becomes "is described by". */
export const phrase = (relation: string) => relation.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
export const relations = (Object.keys(RELATIONS) as Schemas['RelatedIdentifierRelationEnum'][]).map((key) => [key, phrase(key)] as const)
export const types: readonly (readonly [Schemas['RelatedIdentifierTypeEnum'], string])[] = [['DOI', 'DOI'], ['URL', 'Web address'], ['PMID', 'PubMed id'], ['arXiv', 'arXiv id']]

export const newCreator = (): Creator => ({ family: '', given: '', organisation: '', orcid: '', affiliation: '', ror: '', roles: [] })
export const newFunder = (): Funder => ({ name: '', identifier: '', award_number: '', award_title: '' })
export const newRelated = (): Related => ({ relation: 'IsDescribedBy', type: 'DOI', identifier: '' })

/** Keywords of a text, separated by commas, semicolons or lines. */
export const keywordsOf = (text: string): string[] => text.split(/[,;\n]/).map((word) => word.trim()).filter(Boolean)

/** The name of a creator as in a citation. */
export const nameOf = (creator: Creator): string => creator.organisation || [creator.family, creator.given].filter(Boolean).join(', ')
