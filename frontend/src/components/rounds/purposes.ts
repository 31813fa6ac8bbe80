const names: Readonly<Record<string, string>> = { gold: 'gold standard', 'measure only': 'reliability study', 'review and correct': 'correction' }

/** The name of a round's purpose on pages; the API's key may differ. */
export const purposeName = (key: string) => names[key] ?? key
