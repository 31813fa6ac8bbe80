/** Sets of codes in one cell, in the format of `measures/span_agreement.py`. */

export function asCell(codes: Iterable<string>): string {
  return [...new Set(codes)].sort((a, b) => (a < b ? -1 : 1)).join('; ')
}

export function codesOfCell(cell: string): Set<string> {
  return new Set(cell.split(';').map((part) => part.trim()).filter(Boolean))
}
