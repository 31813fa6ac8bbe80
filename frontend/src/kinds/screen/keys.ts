import { bindingsOf } from '../choice.ts'
import { CHOICES } from './state.ts'

export const bindings = bindingsOf(CHOICES)
