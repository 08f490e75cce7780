/** A string, or a structural character (RFC 8259 section 2). In a valid text, nothing else contains these characters. */
const TOKEN = /"(?:[^"\\]+|\\.)*"|[{}[\]:]/g

/**
 * Parses JSON, and rejects an object that has two members of one name: parsers disagree on which of them counts.
 * @throws SyntaxError
 */
export function parseUniqueJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  const open: (Set<unknown> | undefined)[] = []
  let last = ''
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(undefined)
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':') addName(open.at(-1), JSON.parse(last))
    last = token
  }
  return value
}

function addName(names: Set<unknown> | undefined, name: unknown): void {
  if (names?.has(name)) throw new SyntaxError('repeated member')
  names?.add(name)
}
