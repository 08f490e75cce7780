/**
 * Parses JSON, and rejects an object that has two members of one name: parsers disagree on which of them counts.
 * @throws SyntaxError
 */
export function parseUniqueJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  const open: (Set<unknown> | undefined)[] = []
  let string = ''
  // The text is valid JSON: every quotation mark outside a string opens one, and every colon follows the name of a member.
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at)
      string = text.slice(at, end + 1)
      at = end
    } else if (character === '{') open.push(new Set())
    else if (character === '[') open.push(undefined)
    else if (character === '}' || character === ']') open.pop()
    else if (character === ':') addName(open.at(-1), JSON.parse(string))
  }
  return value
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

function addName(names: Set<unknown> | undefined, name: unknown): void {
  if (names?.has(name)) throw new SyntaxError('repeated member')
  names?.add(name)
}
