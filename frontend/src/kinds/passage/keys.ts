import { bindingsOf } from '../choice.ts'
import { RATINGS } from './state.ts'

export const bindings = bindingsOf(RATINGS)
