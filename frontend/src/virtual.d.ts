/** Task kinds of a folder that was given when the pages were built (dev/kinds.ts): none in production. */
declare module 'virtual:extra-kinds' {
  const kinds: readonly import('./kinds/kind.ts').KindDefinition[]
  export default kinds
}
