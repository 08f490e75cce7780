/** The most characters that decoding one text may produce. Text that would produce more counts as secret. */
const DECODED = 300_000

/** Ways to compare: exactly; without case, accents, control characters and `+` for a blank; letters and digits only. */
const READINGS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) =>
    folded(text)
      .replace(/[\p{Cc}\p{Cf}]/gu, '')
      .replaceAll('+', ' '),
  (text) => folded(text).replace(/[^\p{L}\p{N}]/gu, ''),
]

/** Folds case and accents. Removes marks first, because many marks slow normalisation. Capitals of `ß` and `ss` are equal. */
function folded(text: string): string {
  return text.replace(/\p{M}/gu, '').normalize('NFKD').toLowerCase().toUpperCase().replace(/\p{M}/gu, '')
}

/** The minimum length for letters and digits only. Most text contains those of a shorter secret. */
const FEWEST_LETTERS = 4

/** The pieces of the secrets by their length, for each way to compare. */
export type SecretPieces = readonly Map<number, Set<string>>[]

export const noPieces = (): SecretPieces => READINGS.map(() => new Map())

/**
 * Adds the pieces of a secret that must not be shown: half of the secret, but at least 4 and at most 8 characters of it. A secret of
 * up to 4 characters is one piece. An empty secret has no pieces.
 */
export function addPieces(pieces: SecretPieces, secret: string): void {
  const spelling = secret.toWellFormed()
  const [exact, blurred, letters] = READINGS.map((read) => read(spelling)) as [string, string, string]
  const long = [letters, ...base64Letters(spelling)].filter(({ length }) => length >= FEWEST_LETTERS)
  for (const [index, texts] of [[exact], [blurred], long].entries()) {
    const known = pieces[index] as Map<number, Set<string>>
    for (const text of texts.filter((one) => one !== '')) {
      const length = text.length < 4 ? text.length : Math.min(8, Math.max(4, Math.ceil(text.length / 2)))
      const ofLength = known.get(length) ?? new Set()
      known.set(length, ofLength)
      for (let at = 0; at + length <= text.length; at++) ofLength.add(text.slice(at, at + length))
    }
  }
}

/** Returns base64 of a secret at any position in a longer text. Node lower-cases header names, so they cannot be decoded. */
function base64Letters(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replaceAll('=', '')
    const whole = text.slice(Math.ceil((before * 4) / 3), (before + bytes.length) % 3 === 0 ? undefined : -1)
    return whole.toUpperCase().replace(/[^A-Z\d]/g, '')
  })
}

/**
 * Returns whether a text contains a piece of a secret. The text is decoded in every way, and the results are decoded again, until
 * nothing is left to decode.
 * @param also another pattern that must not occur
 */
export function hasSecret(text: string, pieces: SecretPieces, also?: RegExp): boolean {
  const shortest = Math.min(...pieces.flatMap((byLength) => [...byLength.keys()]))
  const seen = new Set([text.toWellFormed()])
  let decoded = 0
  // The loop visits members that are added meanwhile. No decoder makes text longer, so the loop ends.
  for (const form of seen) {
    decoded += form.length
    if (decoded > DECODED || shows(form, pieces) || UNREAD_ENTITY.test(form) || also?.test(form)) return true
    for (const decode of DECODERS) {
      for (const next of decode(form)) if (next.length >= shortest) seen.add(next.toWellFormed())
    }
  }
  return false
}

function shows(form: string, pieces: SecretPieces): boolean {
  return pieces.some((byLength, index) => {
    if (byLength.size === 0) return false
    const text = (READINGS[index] as (text: string) => string)(form)
    return [...byLength].some(([length, known]) => {
      for (let at = 0; at + length <= text.length; at++) if (known.has(text.slice(at, at + length))) return true
      return false
    })
  })
}

/** A named character reference that is not decoded. Thousands of names could stand for a letter of a secret. */
const UNREAD_ENTITY =
  /&(?!(?:amp|lt|gt|quot|apos|nbsp);)(?:[a-z][a-z\d]{1,31};|[a-z]{1,2}(?:grave|acute|circ|tilde|uml|ring|lig|cedil|slash))/i

const ENTITY = /&(?:#x0*([\da-f]{1,6})|#0*(\d{1,7})|(amp|lt|gt|quot|apos|nbsp));?/gi
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

const ESCAPE =
  /\\u\{0*([\da-fA-F]{1,6})\}|[\\%]u([\da-fA-F]{4})|\\U([\da-fA-F]{8})|\\x([\da-fA-F]{2})|\\([0-7]{3})|\\(.)/gs
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', 0: '\0' }

/** Decoders. Each returns the decoded texts, or the text itself or nothing if there is nothing to decode. */
const DECODERS: readonly ((text: string) => string[])[] = [
  // Line ends and blanks, which may interrupt an encoding. A `=` before a line end belongs to the line end, or to base64.
  (text) => [text.replace(/=\r?\n|\s+/g, ''), text.replace(/\s+/g, '')],
  // Percent-encoding, then quoted-printable.
  (text) => [text.replace(/(?:%[\da-f]{2})+/gi, (run) => hex(run.replaceAll('%', '')))],
  (text) => [text.replace(/=\r?\n/g, '').replace(/(?:=[\da-f]{2})+/gi, (run) => hex(run.replaceAll('=', '')))],
  (text) => [
    text.replace(ENTITY, (_, hexadecimal, decimal, name) =>
      name ? (NAMED[name.toLowerCase()] as string) : character(hexadecimal ? `0x${hexadecimal}` : decimal),
    ),
  ],
  (text) => [
    text.replace(ESCAPE, (_, braced, four, eight, two, octal, other) => {
      if (other !== undefined) return CONTROLS[other] ?? other
      return character(octal ? `0o${octal}` : `0x${braced ?? four ?? eight ?? two}`)
    }),
    // Bytes: a letter beyond ASCII has several.
    text.replace(/(?:\\x[\da-f]{2})+/gi, (run) => hex(run.replace(/\\x/gi, ''))),
    text.replace(/(?:\\[0-3][0-7]{2})+/g, (run) => bytes(run.slice(1).split('\\'), 8)),
  ],
  // A list of numbers, as in JSON.
  (text) =>
    [/\d{1,3}(?:\D{1,2}\d{1,3})+/g, /\d{1,3}/g]
      .flatMap((list) => runs(text, list))
      .map((run) => bytes(run.split(/\D+/), 10)),
  // Hexadecimal, with and without separators. The first digit may not belong to the encoding.
  (text) => [text.replace(/(?<=[\da-f])[\s:,._-]{1,2}(?:0x)?(?=[\da-f])/gi, '')],
  (text) => runs(text, /[\da-f]{2,}/gi).flatMap((run) => [hex(run), hex(run.slice(1))]),
  // Base64 and base64url. The first letters may not belong to the encoding.
  (text) =>
    runs(text, /[\w+/-]{2,}/g).flatMap((run) =>
      [0, 1, 2, 3].map((from) => Buffer.from(run.slice(from), 'base64').toString()),
    ),
  // Node reads headers as Latin-1.
  (text) => [text.replace(/[\u0080-\u00ff]+/g, (run) => Buffer.from(run, 'latin1').toString())],
]

const runs = (text: string, pattern: RegExp): string[] => text.match(pattern) ?? []

const hex = (digits: string): string => Buffer.from(digits, 'hex').toString()

const bytes = (numbers: readonly string[], base: number): string =>
  Buffer.from(numbers.map((number) => Number.parseInt(number, base))).toString()

function character(code: string): string {
  const point = Number(code)
  return point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd'
}
