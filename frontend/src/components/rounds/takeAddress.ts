/** Addresses of participant links, with the parameters that a recruitment platform adds. */

export interface TakeAddress {
  token: string
  query: Record<string, string>
}

/**
 * Read the token and the parameters of the address of a link. The token is after the #, where no server logs it. A
 * platform may add its parameters before the #, or at the end of the whole address: `#TOKEN?NAME=value`.
 */
export function readTakeAddress({ search, hash }: { search: string; hash: string }): TakeAddress {
  const [token = '', ...rest] = hash.slice(1).split(/[?&]/)
  const query: Record<string, string> = {}
  for (const part of [search.slice(1), rest.join('&')]) for (const [name, value] of new URLSearchParams(part)) query[name] = value
  return { token, query }
}

/** Placeholders that Prolific replaces with the ids of a person. */
const PROLIFIC: Record<string, string> = { id: '{{%PROLIFIC_PID%}}', study: '{{%STUDY_ID%}}', session: '{{%SESSION_ID%}}' }

/** The address that a lead enters on the platform. */
export function platformAddress(origin: string, token: string, platform: string, parameters: Record<string, string>): string {
  if (platform === 'mturk') return `${origin}/take#${token}`
  const value = (what: string) => (platform === 'prolific' ? PROLIFIC[what] : what.toUpperCase())
  const query = Object.entries(parameters).filter(([, name]) => name).map(([what, name]) => `${name}=${value(what)}`)
  return `${origin}/take?${query.join('&')}#${token}`
}
