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
        // The names of two hundred files stand in what is loaded first: letters of 36, not 64, are a hundred bytes less.
        hashCharacters: 'base36',
        // One file for what every page needs, one for work of any kind, one for labelling: left alone, Work comes in twelve
        // small ones.
        codeSplitting: {
          groups: [
            { name: 'base', test: /node_modules|preload-helper|(src\/(api\/client|session|routes|parts\/(loaded|errorMessage|Skeleton|place|part\.)|kinds\/(\w+\/)?index\.ts)|extra-kinds)/ },
            { name: 'work', test: /src\/(work\/(?!First|Questions|PracticeResult|Feedback|Introduction|Dialogs|CommentForm|later)|text\/(?![dD]ifferences|wordEdits))/ },
            { name: 'parts', test: /src\/parts\/(Notice|ActionStatus|Page|Await|Scroll|Pager|Tabs|Copy|Bar|Counts|JobProgress|StartWorker|RunBar|AgreementText|save|address|follow|runs|corpus)\./ },
            { name: 'rating', test: /src\/(rating\/(Asked|Break|Desk|Offer|Source|pause|protocol|sets|source)\.|kinds\/rate\/(place|answers|stored)\.)/ },
            { name: 'label', test: /src\/kinds\/label\/(?!columns|inForce|InForce|newRow|typed|Handles|trial)/ },
          ],
        },
      },
    },
  },
  // Beside the other checks a test may wait minutes for its turn: only what hangs is to be ended.
  test: { include: ['src/**/*.test.ts', 'dev/**/*.test.ts'], environment: 'node', testTimeout: 600_000, hookTimeout: 600_000 },
}))
