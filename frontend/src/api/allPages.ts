/** Rows of a page; the server sends no more. */
const MOST = 200

interface List {
  count: number
  results: unknown[]
}

/** Load all pages of a list that is short by nature, so that it can be sorted and filtered as a whole. */
export async function allPages<L extends List>(load: (query: { page: number; page_size: number }) => Promise<L>): Promise<L> {
  const first = await load({ page: 1, page_size: MOST })
  const pages = Array.from({ length: Math.ceil(first.count / MOST) - 1 }, (_, n) => load({ page: n + 2, page_size: MOST }))
  const rest = await Promise.all(pages)
  return { ...first, results: [first, ...rest].flatMap((list) => list.results) }
}
