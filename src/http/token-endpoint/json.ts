/** The most colons, commas and brackets of a JSON text. A login needs five. */
export const MOST_SIGNS = 400

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
/** 1 for each character that is a sign. A table is several times as fast as a `Set`. */
const IS_SIGN = new Uint8Array(128)
for (const sign of '{}[]:,') IS_SIGN[sign.charCodeAt(0)] = 1

/** A colon, comma or bracket, and the last string before it. */
interface Sign {
  readonly sign: string
  readonly string: string
}

/**
 * Parses JSON, and rejects an object that has two members of one name: parsers disagree on which of them counts. Rejects a text of
 * many values before it parses the text, because their number would determine the time.
 * @throws SyntaxError
 */
export function parseUniqueJson(text: string): unknown {
  const signs = signsOf(text)
  const value: unknown = JSON.parse(text)
  const open: (Set<unknown> | undefined)[] = []
  // The text is valid JSON, so every colon follows the name of a member.
  for (const { sign, string } of signs) {
    if (sign === '{') open.push(new Set())
    else if (sign === '[') open.push(undefined)
    else if (sign === ':') addName(open.at(-1), JSON.parse(string))
    else if (sign !== ',') open.pop()
  }
  return value
}

/** Returns the signs outside strings. The text may not be JSON. */
function signsOf(text: string): Sign[] {
  const signs: Sign[] = []
  let string = ''
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfString(text, at)
      string = text.slice(at, end + 1)
      at = end
    } else if (IS_SIGN[code] === 1) {
      if (signs.length === MOST_SIGNS) throw new SyntaxError('too many values')
      signs.push({ sign: text.charAt(at), string })
    }
  }
  return signs
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) break
    if (code === BACKSLASH) at++
  }
  return at
}

function addName(names: Set<unknown> | undefined, name: unknown): void {
  if (names?.has(name)) throw new SyntaxError('repeated member')
  names?.add(name)
}
