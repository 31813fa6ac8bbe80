import type { Card } from '../kind.ts'
import label from '../label/tutorial.ts'
import type { Tutorial } from '../tutorial.ts'

/** The tutorial of labelling, with its own first line. */
const tutorial: Tutorial = {
  brief: [
    'Label what the sentence claims, even if it is false or odd.',
    ...label.brief,
  ],
  units: label.units.map((unit) => ({ ...unit, card: { ...unit.card, kind: 'blind_check' } as Card })),
}
export default tutorial
