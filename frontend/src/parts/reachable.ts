/** Lets the keyboard scroll what is wider than its place; what fits is no stop on the way. */
export function reachable(node: HTMLElement) {
  const look = () => {
    if (node.scrollWidth > node.clientWidth) node.tabIndex = 0
    else node.removeAttribute('tabindex')
  }
  const sizes = new ResizeObserver(look)
  sizes.observe(node)
  return { destroy: () => sizes.disconnect() }
}
