/** File uploads, in a file of their own because the Work page does not need them. */

import { csrfToken, Offline, problemOf, saySignedOut, Unauthenticated } from './client.ts'

/** Upload a form with a file. `onsent` gets the share sent, 0..1, which `fetch` cannot report. */
export function upload<T>(path: string, form: FormData, onsent: (share: number) => void): { reply: Promise<T>; stop: () => void } {
  const request = new XMLHttpRequest()
  const reply = new Promise<T>((resolve, reject) => {
    request.open('POST', path)
    request.setRequestHeader('X-CSRFToken', csrfToken())
    request.setRequestHeader('Accept', 'application/json')
    request.upload.onprogress = (event) => event.lengthComputable && onsent(event.loaded / event.total)
    request.onerror = () => reject(new Offline())
    request.onabort = () => reject(new DOMException('Stopped', 'AbortError'))
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) return resolve(JSON.parse(request.responseText) as T)
      void problemOf(new Response(request.responseText, { status: request.status })).then((problem) => {
        if (problem instanceof Unauthenticated) saySignedOut()
        reject(problem)
      })
    }
    request.send(form)
  })
  return { reply, stop: () => request.abort() }
}
