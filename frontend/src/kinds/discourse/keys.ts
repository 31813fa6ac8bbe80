import { bindingsOf } from '../choice.ts'
import { RELATIONS } from './state.ts'

export const bindings = bindingsOf(RELATIONS)
