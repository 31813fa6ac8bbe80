/** A proposition that is labelled outside the Work page. */

import { tupleIn } from '../../pico/elements.ts'
import type { Card, Value } from './state.ts'

interface Place {
  unit: number
  text: string
  /** 0 is the target. */
  position: number
  /** Revision of the unit. */
  shown: number
  cluster: { key: string; unit_name: string; size: number; pico: Card['pico'] }
}

export function cardOf({ unit, text, position, shown, cluster }: Place, value: Value | null): Card {
  const target = position === 0
  return {
    assignment: 0, kind: 'label', revision: 1, shown, position, unit: { id: unit, key: cluster.key, unit_name: cluster.unit_name }, answered_at: null, outcome: null, comment: '', references: [],
    flag: false, text, role: target ? 'target' : 'input', candidates: null, asks_cues: true, pico: tupleIn(text, target, cluster.pico),
    context: { key: cluster.key, index: position + 1, size: cluster.size }, value,
  }
}
