/** Format numbers, times and sizes. Always English, like the pages. */

const whole = new Intl.NumberFormat('en-GB')
const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
const moments = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' })
const clocks = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

/** "2,292" */
export function count(n: number): string {
  return whole.format(n)
}

/** "Gold standard" from "gold standard". */
export const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1)

/** "1 answer", "2,292 answers" */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`
}

/** "0.84", with a typographic minus; a dash without a number. Never "-0.00". */
export function decimal(value: number | null | undefined, digits = 2): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–'
  const text = value.toFixed(digits)
  return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−')
}

/** "[0.75, 0.92]"; empty without an interval. */
export function interval(ci: readonly number[] | null | undefined, digits = 2): string {
  return ci && ci.length === 2 ? `[${decimal(ci[0], digits)}, ${decimal(ci[1], digits)}]` : ''
}

/** "85%", from a share; "100%" and "0%" only if exact. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return '–'
  const rounded = Math.round(share * 100)
  if (rounded === 100 && share < 1) return '> 99%'
  if (rounded === 0 && share > 0) return '< 1%'
  return `${rounded}%`
}

/** "p = .007", "p < .001", "p = 1"; a dash without a value. Never "p = 0". */
export function pValue(p: number | null | undefined): string {
  if (p === null || p === undefined || !Number.isFinite(p)) return 'p –'
  if (p < 0.001) return 'p < .001'
  const text = p < 0.1 ? p.toFixed(3) : p.toFixed(2)
  return Number(text) >= 1 ? 'p = 1' : `p = ${text.slice(1)}`
}

/** "1.1 MB", in powers of 1000 like file managers; exact below 1000 bytes. */
export function bytes(n: number): string {
  if (n < 1000) return `${n} B`
  const units = ['kB', 'MB', 'GB', 'TB']
  let value = n / 1000
  let unit = 0
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${value >= 9.95 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

/** "35 s", "25 min", "1 h 05 min". */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '–'
  if (seconds < 59.5) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
}

/** "21 Nov 2026" */
export function day(iso: string | null | undefined): string {
  return iso ? days.format(new Date(iso)) : '–'
}

/** "21 Nov 2026, 06:30" */
export function moment(iso: string | null | undefined): string {
  return iso ? moments.format(new Date(iso)) : '–'
}

/** "06:30", as local time. */
export function clock(time: Date): string {
  return clocks.format(time)
}

/** "now", "5 min", "3 h", "4 days": time since then. */
export function age(iso: string, now = Date.now()): string {
  const minutes = Math.floor((now - Date.parse(iso)) / 60_000)
  if (minutes < 1) return 'now'
  if (minutes < 60) return `${minutes} min`
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h`
  return counted(Math.floor(minutes / 1440), 'day')
}

/** "3 min ago", or "now" in the first minute. */
export function ago(iso: string, now = Date.now()): string {
  const past = age(iso, now)
  return past === 'now' ? past : `${past} ago`
}

/** "a, b and c" */
export function listed(items: readonly string[]): string {
  return items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}

/** The text with equations that do not wrap: "n = 12". */
export const unbroken = (text: string): string => text.replace(/ ([=<]) (?=[\d.])/g, '\u00a0$1\u00a0')

/** "19.3" and "[18.1, 20.5]" from "19.3 [18.1, 20.5]", with what follows. */
export function splitInterval(text: string): { value: string; below: string } {
  const found = /^(.*) (\[[^[\]]*\])((?: [a-z]+)?(?: \(n = \d+\))?)$/.exec(text)
  return found ? { value: `${found[1]}${found[3]}`, below: found[2]! } : { value: text, below: '' }
}

/** CSV with doubled quotes; cells that a spreadsheet would run as a formula are escaped. */
export function csv(header: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  const cell = (value: string | number | null): string => {
    if (value === null) return ''
    if (typeof value === 'number') return String(value)
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
  }
  return [header, ...rows].map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n'
}

/** A file name made from words. */
export function fileName(words: string, ending: string): string {
  return `${words.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '') || 'file'}.${ending}`
}
