/** One value chosen for a unit, as its page works: what is pressed, what is told to the page, what is kept of it. */

import { untrack } from 'svelte'
import { begin, reduce, type Action, type Facts, type Option, type State } from './choice.ts'
import type { EditorProps, Value } from './kind.ts'

interface Given<T extends string> {
  offered?: T | null
  before: T | null
  options: readonly Option<T>[]
  toValue: (chosen: T) => Value
}

/** Made anew for every unit: what the unit is does not change under it. */
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

  /** Whether another value than the one that was there waits for Enter. */
  get changed(): boolean {
    return this.facts.revisit && this.chosen !== this.facts.before
  }

  private act(action: Action<T>): void {
    const was = this.state
    this.state = reduce(this.facts, was, action)
    const { chosen, complete } = this.state
    if (complete && chosen) this.props.onvalue(this.given.toValue(chosen), { chosen })
    else if (this.state !== was) this.props.onchange({ chosen })
    else if (action.do === 'undo') this.props.onback()
  }

  /** By the mouse or a finger: not before the unit could be seen. */
  press(value: T): void {
    if (!this.props.tooSoon()) this.act({ do: 'choose', value })
  }

  run(command: string): void {
    const found = this.given.options.find((o) => o.value === command)
    if (found) this.act({ do: 'choose', value: found.value })
    else if (command === 'next' || command === 'undo') this.act({ do: command })
  }

  leave(): unknown {
    return { chosen: this.chosen }
  }
}
