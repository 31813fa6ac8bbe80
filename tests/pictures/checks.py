"""Checks of a page that a picture alone does not show."""

from playwright.sync_api import Page

#: Text that is cut by an element that clips it. Axe and the width of the page do not see this.
CUT = """() => {
  const found = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node; (node = walker.nextNode()); ) {
    const own = node.parentElement
    if (!node.data.trim() || !own.checkVisibility()) continue
    if (own.closest('.hidden, .skip, svg, option, dialog:not([open])')) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    const text = range.getBoundingClientRect()
    if (!text.width) continue
    for (let box = own; box && box !== document.body; box = box.parentElement) {
      const style = getComputedStyle(box)
      if (style.position === 'fixed') break
      if (/auto|scroll/.test(style.overflowX)) break
      if (!/hidden|clip/.test(style.overflowX) || style.textOverflow === 'ellipsis') continue
      if (style.webkitLineClamp !== 'none') continue
      const edge = box.getBoundingClientRect()
      if (edge.width < 2) break // for screen readers only
      const beyond = Math.max(text.right - edge.right, edge.left - text.left)
      if (beyond > 1) found.push(`${Math.round(beyond)} px: ${node.data.trim().slice(0, 60)}`)
      break
    }
  }
  // Text beyond the padding of its table cell or panel.
  for (const cell of document.querySelectorAll('td, th, .panel, li')) {
    const beyond = cell.scrollWidth - cell.clientWidth
    if (beyond < 2 || !cell.clientWidth || getComputedStyle(cell).overflowX !== 'visible') continue
    if (cell.closest('.hidden, [role=region], thead') || cell.querySelector('.hidden, svg')) continue
    found.push(`${beyond} px beyond: ${cell.textContent.trim().slice(0, 60)}`)
  }
  return [...new Set(found)]
}"""
#: Targets below 24 px, apart from links in running text and controls with a larger label around them.
SMALL = """() => [...document.querySelectorAll('button, a[href], input:not([type=hidden]), select, summary')]
  .filter((e) => e.checkVisibility() && !e.closest('p, .prose, .skip, svg, td, th, dd, li'))
  .filter((e) => !e.matches('label input, .hidden'))
  .map((e) => [e.getBoundingClientRect(), e.outerHTML.slice(0, 80)])
  .filter(([box]) => box.width && (box.height < 23.5 || box.width < 23.5))
  .map(([box, html]) => `${Math.round(box.width)}x${Math.round(box.height)}: ${html}`)"""
#: Content that moved since the page began to load, without an action: the share of the window, and the element.
MOVED = """() => new Promise((resolve) => {
  const found = []
  new PerformanceObserver((list) => found.push(...list.getEntries())).observe({type: 'layout-shift', buffered: true})
  setTimeout(() => resolve(found.filter((e) => !e.hadRecentInput && e.value > 0.002).map((e) =>
    `${e.value.toFixed(3)}: ${e.sources.map((s) => s.node?.textContent?.trim().slice(0, 40)).join(' | ').slice(0, 120)}`
  )), 50)
})"""
WIDTHS = (320, 360, 400, 480, 640, 768, 900, 992, 1024, 1280, 1600, 1920)


def faults(page: Page, height: int = 800) -> list[str]:
    """Return sideways scrolling, cut text and small targets of a page, each with the widths at which it occurs."""
    found: dict[str, list[int]] = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": height})
        lines = [f"cut by {line}" for line in page.evaluate(CUT)]
        lines += [f"small target {line}" for line in page.evaluate(SMALL)]
        if page.evaluate("document.documentElement.scrollWidth") > width:
            lines.append("the page scrolls sideways")
        for line in lines:
            found.setdefault(line, []).append(width)
    return [f"{line} (at {', '.join(map(str, widths))})" for line, widths in found.items()]


def moves(page: Page) -> list[str]:
    return [f"moved while loading: {line}" for line in page.evaluate(MOVED)]
