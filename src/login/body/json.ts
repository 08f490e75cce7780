/** The most colons, commas and brackets of a JSON text. A login needs five. */
export const MOST_SIGNS = 400

/** A string, which the text may not close, or a colon, comma or bracket. */
const TOKEN = /"(?:[^"\\]+|\\.)*"?|[{}[\]:,]/gs

/**
 * Parses JSON, and rejects an object that has two members of one name: parsers disagree on which of them counts. Rejects a text of
 * many values before it parses the text, because their number would determine the time.
 * @throws SyntaxError
 */
export function parseUniqueJson(text: string): unknown {
  const tokens = tokensOf(text)
  const value: unknown = JSON.parse(text)
  const open: (Set<unknown> | undefined)[] = []
  let last = ''
  for (const token of tokens) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(undefined)
    else if (token === '}' || token === ']') open.pop()
    // The text is valid JSON, so every colon follows the name of a member.
    else if (token === ':') {
      const name: unknown = JSON.parse(last)
      if (open.at(-1)?.has(name)) throw new SyntaxError('repeated member')
      open.at(-1)?.add(name)
    }
    last = token
  }
  return value
}

/** Returns the tokens that {@link TOKEN} finds. The text may not be JSON. */
function tokensOf(text: string): string[] {
  const tokens: string[] = []
  let signs = 0
  for (const [token] of text.matchAll(TOKEN)) {
    tokens.push(token)
    if (!token.startsWith('"')) signs++
    const strings = tokens.length - signs
    // In JSON, a sign is between two strings.
    if (signs > MOST_SIGNS || strings > signs + 1) throw new SyntaxError('too many values')
  }
  return tokens
}
