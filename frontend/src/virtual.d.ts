/** Task kinds from an extra folder given at build time (dev/kinds.ts); none in production. */
declare module 'virtual:extra-kinds' {
  const kinds: readonly import('./kinds/kind.ts').KindDefinition[]
  export default kinds
}
