import type { Schemas } from '../../api/client.ts'

const TASKS: Readonly<Record<Schemas['ReadingTaskEnum'], string>> = { sentences: 'classes of sentences', pio: 'spans', effects: 'effects', suitability: 'fitness' }

/** "Hatched: read by a machine, no person has decided it. Spans: imported file; effects: scibert." */
export function machineNote(readers: readonly Schemas['Readers'][]): string {
  const words = readers.map(({ task, models }) => `${TASKS[task]}: ${models.map((name) => name || 'imported file').join(' and ')}`).join('; ')
  return `Hatched: read by a machine, no person has decided it.${words ? ` ${words[0]!.toUpperCase()}${words.slice(1)}.` : ''}`
}
