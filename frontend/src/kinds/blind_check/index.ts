import type { KindDefinition } from '../kind.ts'
import label from '../label/index.ts'

/** A rewritten text labelled like a proposition, blind to its target and kind of rewriting. */
const blindCheck: KindDefinition = {
  key: 'blind_check',
  unit: 'Text',
  noun: 'label',
  missing: 'a blind label',
  said: label.said,
  strip: label.strip!,
  spans: label.spans!,
  fields: label.fields,
  task: label.task,
  tutorial: () => import('./tutorial.ts'),
}
export default blindCheck
