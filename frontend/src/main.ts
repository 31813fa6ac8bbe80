import { mount } from 'svelte'
import './style/tokens.css'
import './style/base.css'
import App from './App.svelte'
import { loadAnew } from './deployment.ts'

mount(App, { target: document.getElementById('app')! })

// Whoever asked for the part is told as well that it could not be had.
addEventListener('vite:preloadError', () => void loadAnew())
