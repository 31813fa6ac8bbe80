import { expect, test } from 'vitest'
import { byPage, pageName } from './gaps.ts'

const gap = (what: string, page: string) => ({ section: 'People', what, page })

test('gaps are grouped by the page on which to enter them', () => {
  const gaps = [gap('consent', 'settings?tab=citation'), gap('licence', 'import'), gap('pay', 'settings?tab=citation')]
  expect(byPage(gaps).map(([page, own]) => [pageName(page), own.map((g) => g.what)])).toEqual([
    ['Settings, Citation', ['consent', 'pay']],
    ['Import', ['licence']],
  ])
})

test('a page without a name keeps its path', () => expect(pageName('people')).toBe('people'))
