/** Copy a text and return a message; `instead` says what to do if the browser refuses. */
export async function copyText(text: string, instead: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text)
    return 'Copied'
  } catch {
    return `The browser does not allow copying here. ${instead}`
  }
}
