import { expect, it } from 'vitest'
import { keywordsOf, nameOf, newCreator, phrase } from './citation.ts'

it('reads keywords between commas, semicolons and lines', () => {
  expect(keywordsOf(' glaucoma, AMD;\n diabetic retinopathy ,')).toEqual(['glaucoma', 'AMD', 'diabetic retinopathy'])
})

it('names a person with the family name first, and an organisation as it is', () => {
  expect(nameOf({ ...newCreator(), family: 'Lead', given: 'Lea' })).toBe('Lead, Lea')
  expect(nameOf({ ...newCreator(), family: 'Lead' })).toBe('Lead')
  expect(nameOf({ ...newCreator(), organisation: 'Eye Group' })).toBe('Eye Group')
})

it('turns a relation of DataCite into a phrase', () => {
  expect(phrase('IsDescribedBy')).toBe('is described by')
  expect(phrase('References')).toBe('references')
})
