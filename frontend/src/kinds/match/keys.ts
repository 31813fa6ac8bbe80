import { bindingsOf } from '../choice.ts'
import { PLACES } from './state.ts'

export const bindings = bindingsOf(PLACES)
