/** Let the keyboard scroll a node that overflows; a node that fits is no tab stop. */
export function scrollable(node: HTMLElement) {
  const update = () => {
    if (node.scrollWidth > node.clientWidth || node.scrollHeight > node.clientHeight) node.tabIndex = 0
    else node.removeAttribute('tabindex')
  }
  const sizes = new ResizeObserver(update)
  sizes.observe(node)
  return { destroy: () => sizes.disconnect() }
}
