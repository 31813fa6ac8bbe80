import { mount } from 'svelte'
import './style/tokens.css'
import './style/base.css'
import App from './App.svelte'

mount(App, { target: document.getElementById('app')! })

// A page opened before a deployment whose chunks are gone for good: load it anew, once.
addEventListener('vite:preloadError', (event) => {
  const key = 'concord.reloaded'
  if (sessionStorage.getItem(key) === location.pathname) return
  sessionStorage.setItem(key, location.pathname)
  event.preventDefault()
  location.reload()
})
