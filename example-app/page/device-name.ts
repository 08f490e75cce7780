/** Parts of a `User-Agent` and their names. The first one that fits counts, because most browsers also name others. */
const BROWSERS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bEdg\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\b(?:Headless)?Chrome\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
  [/^node\b/, 'Node.js'],
]
const SYSTEMS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** Returns a short name of a device. A client chooses its `User-Agent`, so the name proves nothing. */
export function deviceName(label: string | null, userAgent: string | null): string {
  if (label) return label
  const agent = userAgent ?? ''
  const nameIn = (rows: typeof SYSTEMS) => rows.find(([pattern]) => pattern.test(agent))?.[1]
  const names = [nameIn(BROWSERS), nameIn(SYSTEMS)].filter((name) => name !== undefined)
  return names.join(' on ') || 'Unknown device'
}
