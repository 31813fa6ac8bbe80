/**
 * A part of a page that is loaded once it is needed: its component, or null where it cannot be had now, as when the
 * server is away. Whoever works goes on without it. (Not `import(…).then(found, not)`: the bundler puts what it loads
 * beside a module, such as its styles, around that whole expression, and a refusal of theirs would reach nobody.)
 */
export async function part<T>(ask: () => Promise<{ default: T }>): Promise<T | null> {
  try {
    return (await ask()).default
  } catch {
    return null
  }
}
