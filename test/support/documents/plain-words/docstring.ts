import type { Text } from './text.js'

/** Tags whose text is a name, a type or code. */
const NOT_PROSE = /^@(example|see|type|typedef|default|module|useDeclaredType|inline|internal)\b/

/** Reads a docstring: its description, and the text of each tag. */
export function docstringTexts(file: string, line: number, comment: string): Text[] {
  const lines = comment
    .replace(/^\/\*\*/, '   ')
    .replace(/\*\/$/, '')
    .split('\n')
    .map((text) => text.replace(/^\s*\* ?/, ''))
  const starts = lines.flatMap((text, index) => (index === 0 || /^\s*@\w/.test(text) ? [index] : []))
  return starts
    .map((start, index): Text => {
      const text = lines.slice(start, starts[index + 1]).join('\n')
      return { file, line: line + start, kind: /^\s*@\w/.test(text) ? 'tag' : 'docstring', text }
    })
    .filter(({ text }) => text.trim() && !NOT_PROSE.test(text.trim()))
    .map((text) => (text.kind === 'tag' ? { ...text, text: withoutTag(text.text) } : text))
}

/** Removes the tag, its type, and the parameter's name. */
function withoutTag(text: string): string {
  return text
    .trimStart()
    .replace(/^@(?:(?:param|property|template|typeParam)\s+(?:\{[^}]*\}\s*)?\S+(?:\s+-)?|\w+(?:\s+\{[^}]*\})?)\s*/, '')
}
