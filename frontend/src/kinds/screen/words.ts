/** Apart from the editor's state, because every page loads the definitions of all kinds. */
export const inWords = (screening: string): string => (screening === 'include' ? 'included' : `excluded: ${screening}`)
