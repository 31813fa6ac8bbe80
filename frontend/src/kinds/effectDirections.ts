/** Directions of the effect of an intervention on an outcome, in the order of the API. */

import type { Schemas } from '../api/client.ts'

export type EffectDirection = Schemas['JudgedDirectionEnum']

export const EFFECT_DIRECTIONS: readonly { value: EffectDirection; sign: string; says: string }[] = [
  { value: 'decreased', sign: '↓', says: 'significantly decreased' },
  { value: 'no difference', sign: '=', says: 'no significant difference' },
  { value: 'increased', sign: '↑', says: 'significantly increased' },
  { value: 'not reported', sign: '∅', says: 'not reported in this text' },
]
