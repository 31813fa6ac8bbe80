import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'
import { compressFiles } from './dev/compress.ts'
import { keepPreviousBuild } from './dev/previous.ts'
import { extraKinds } from './dev/kinds.ts'
import { mockServer } from './dev/mock.ts'

export default defineConfig(({ command }) => ({
  base: command === 'build' ? '/static/app/' : '/',
  plugins: [extraKinds(), svelte(), mockServer(), keepPreviousBuild(), compressFiles()],
  // A CommonJS module, as its older version that pdf-lib asks for, would bring an interpreter for it to every page.
  resolve: { alias: { pako: 'pako/dist/pako.esm.mjs' } },
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
      // A first run prints only what needs a decision.
      checks: { pluginTimings: false },
      output: {
        // The first file that a page loads lists the names of all others. Short hashes of 36 letters, without the names of
        // the sources (the manifest has them), keep this list small.
        hashCharacters: 'base36',
        entryFileNames: 'assets/[name]-[hash:7].js',
        chunkFileNames: 'assets/[hash:7].js',
        assetFileNames: 'assets/[hash:7][extname]',
        // One file for what every page needs, one for work of any kind, one for labelling: left alone, Work comes in twelve
        // small ones. A request costs more than the few bytes that a page loads without need.
        codeSplitting: {
          groups: [
            // Without the library that makes PDFs, which is loaded when one is saved.
            { name: 'base', test: /node_modules\/(?!@?pdf-lib|pako|dejavu-fonts-ttf|tslib)|preload-helper|rolldown.runtime|(src\/(style\/|App\.svelte\?|api\/(client|resource|errorMessage)|session|routes|shell\/scrollPosition|components\/(Account|Menu|Skeleton|loadPart)\.|kinds\/(\w+\/)?index\.ts)|extra-kinds)/ },
            // Small pages that are opened after each other.
            { name: 'trainings', test: /src\/pages\/Trainings\// },
            { name: 'origin', test: /src\/pages\/Origin\// },
            { name: 'work', test: /src\/(work\/|pages\/Work\/(Work|Actions|Before|SavedLine)\.|components\/WorkHeader\.|text\/)/ },
            { name: 'components', test: /src\/components\/((Page|ActionStatus|Await|Scroll|Pager|Tabs|Copy|Bar|save|address)|files\/Counts|jobs\/(JobProgress|StartWorker|follow)|systems\/(RunBar|runs)|rounds\/AgreementText|texts\/corpus)\./ },
            { name: 'rating', test: /src\/(rating\/(QuestionBox|Break|RatingLayout|Offer|Source|pause|protocol|source)\.|kinds\/rate\/(sets|focusTarget|answers|stored)\.)/ },
            { name: 'label', test: /src\/kinds\/label\/(?!columns|currentValues|CurrentValue|newRow|typed|Handles|tutorial)/ },
          ],
        },
      },
    },
  },
  // Beside the other checks a test may wait minutes for its turn: only what hangs is to be ended.
  test: { include: ['src/**/*.test.ts', 'dev/**/*.test.ts'], environment: 'node', testTimeout: 600_000, hookTimeout: 600_000 },
}))
