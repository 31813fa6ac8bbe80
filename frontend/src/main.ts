import { mount } from 'svelte'
import './style/tokens.css'
import './style/base.css'
import App from './App.svelte'
import { guardComposition } from './composition.ts'
import { loadAnew } from './deployment.ts'

guardComposition(window)
mount(App, { target: document.getElementById('app')! })

// The import that failed is rejected as well.
addEventListener('vite:preloadError', () => void loadAnew())
