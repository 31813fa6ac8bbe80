import { expect, it } from 'vitest'
import { SharedRemarks } from './remarks.ts'

it('gives a comment and a flag to the other tabs of the same unit and person', async () => {
  const heard: string[] = []
  const open = (name: string, user: number, assignment: number) => {
    const tab = new SharedRemarks(user, ({ comment, flag }) => heard.push(`${name}: ${comment}${flag ? ' !' : ''}`))
    tab.loaded(assignment, { comment: '', flag: false })
    return tab
  }
  const [first, ...others] = [open('first', 1, 7), open('second', 1, 7), open('another unit', 1, 8), open('another person', 2, 7)]
  first.share({ comment: '', flag: false })
  first.share({ comment: 'Unclear', flag: true })
  // What a tab has heard is not sent back.
  await expect.poll(() => heard).toEqual(['second: Unclear !'])
  others[0]!.share({ comment: 'Unclear', flag: true })
  others[0]!.share({ comment: 'Clear', flag: true })
  await expect.poll(() => heard).toEqual(['second: Unclear !', 'first: Clear !'])
  for (const tab of [first, ...others]) tab.close()
})
