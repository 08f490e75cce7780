/**
 * Returns the path of an SVG that draws the dark squares of a QR code, one unit each.
 * @param rows true for a dark square
 */
export function qrPath(rows: readonly (readonly boolean[])[]): string {
  return rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
}
