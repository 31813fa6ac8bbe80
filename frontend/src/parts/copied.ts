/** Copies a text and says what became of it; `instead`: what to do where the browser does not allow it. */
export async function copied(text: string, instead: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text)
    return 'Copied'
  } catch {
    return `The browser does not allow copying here. ${instead}`
  }
}
