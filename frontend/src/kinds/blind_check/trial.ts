import type { Card } from '../kind.ts'
import label from '../label/trial.ts'
import type { Trial } from '../trial.ts'

/** The units of labelling, which this is, without where they come from. */
const trial: Trial = {
  brief: [
    'Label what the sentence claims, as it stands. It may be false or odd: that does not matter.',
    ...label.brief,
  ],
  units: label.units.map((unit) => ({ ...unit, card: { ...unit.card, kind: 'blind_check' } as Card })),
}
export default trial
