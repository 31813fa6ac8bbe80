/** State of an editor whose value is one of a few options: presses, calls of the page, draft. */

import { untrack } from 'svelte'
import { begin, reduce, type Action, type Facts, type Option, type State } from './choice.ts'
import type { EditorProps, Value } from './kind.ts'

interface Given<T extends string> {
  offered?: T | null
  before: T | null
  options: readonly Option<T>[]
  toValue: (chosen: T) => Value
}

/** Created for each unit; the facts of the unit do not change. */
export class Choosing<T extends string> {
  private readonly props: EditorProps
  private readonly given: Given<T>
  private readonly facts: Facts<T>
  private state: State<T>

  constructor(props: EditorProps, given: Given<T>) {
    this.props = props
    this.given = given
    this.facts = untrack(() => ({ offered: given.offered ?? null, before: given.before, revisit: props.visit === 'reopened' }))
    this.state = $state.raw(begin(this.facts, untrack(() => props.draft) as { chosen?: T | null } | null))
  }

  get chosen(): T | null {
    return this.state.chosen
  }

  /** Whether a changed value waits for Enter. */
  get changed(): boolean {
    return this.facts.revisit && this.chosen !== this.facts.before
  }

  private act(action: Action<T>): void {
    const previous = this.state
    this.state = reduce(this.facts, previous, action)
    const { chosen, complete } = this.state
    if (complete && chosen) this.props.onvalue(this.given.toValue(chosen), { chosen })
    else if (this.state !== previous) this.props.onchange({ chosen })
    else if (action.do === 'undo') this.props.onback()
  }

  /** A click or tap; ignored until the unit could be read. */
  press(value: T): void {
    if (!this.props.tooSoon()) this.act({ do: 'choose', value })
  }

  run(command: string): void {
    const option = this.given.options.find((o) => o.value === command)
    if (option) this.act({ do: 'choose', value: option.value })
    else if (command === 'next' || command === 'undo') this.act({ do: command })
  }

  leave(): unknown {
    return { chosen: this.chosen }
  }
}
