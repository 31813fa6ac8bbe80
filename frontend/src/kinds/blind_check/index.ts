import type { KindDefinition } from '../kind.ts'
import label from '../label/index.ts'

/** A rewritten text labelled like any proposition, without knowing its target or the kind of rewriting. */
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
  trial: () => import('./trial.ts'),
}
export default blindCheck
