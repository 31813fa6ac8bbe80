import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'
import { keepPreviousBuild } from './dev/previous.ts'
import { extraKinds } from './dev/kinds.ts'
import { mockServer } from './dev/mock.ts'

export default defineConfig(({ command }) => ({
  base: command === 'build' ? '/static/app/' : '/',
  plugins: [extraKinds(), svelte(), mockServer(), keepPreviousBuild()],
  build: {
    manifest: true,
    // Emptied by keepPreviousBuild, which spares the chunks of the build before this one.
    emptyOutDir: false,
    target: 'es2022',
    // A data: URL is no match for the strict content security policy of the server.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: 'index.html',
      output: {
        // One file for what every page needs, one for work of any kind, one for labelling: left alone, Work comes in twelve
        // small ones.
        codeSplitting: {
          groups: [
            { name: 'base', test: /node_modules|preload-helper|(src\/(api|session|routes|kinds\/(\w+\/)?index\.ts)|extra-kinds)/ },
            { name: 'work', test: /src\/(work\/(?!First|Questions|PracticeResult|Feedback)|text)/ },
            { name: 'label', test: /src\/kinds\/label\/(?!columns|inForce|InForce|newRow|typed|Handles)/ },
          ],
        },
      },
    },
  },
  test: { include: ['src/**/*.test.ts', 'dev/**/*.test.ts'], environment: 'node' },
}))
