/**
 * Load a component when it is first needed; null if it cannot be loaded, for example without a connection.
 * (`import(…).then(ok, failed)` would not do: the bundler wraps that whole expression to load styles, and a failure of
 * these would go unnoticed.)
 */
export async function loadPart<T>(ask: () => Promise<{ default: T }>): Promise<T | null> {
  try {
    return (await ask()).default
  } catch {
    return null
  }
}
