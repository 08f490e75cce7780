import { lineAt, type Text } from './text.js'

const READ = /\b(?:title|alt|aria-label|placeholder|content)="([^"]*)"/g
const INLINE = /^<\/?(?:a|abbr|b|code|em|i|kbd|small|strong|time)\b/i

/** Reads the texts of a page: of its elements, of the attributes that people read, and of its comments. */
export function pageTexts(file: string, source: string): Text[] {
  const found: Text[] = []
  const add = (kind: Text['kind'], position: number, raw: string) => {
    const start = raw.length - raw.trimStart().length
    const text = raw.trim()
    if (/\p{L}/u.test(text)) found.push({ file, line: lineAt(source, position + start, 1), kind, text })
  }
  const blank = (text: string) => text.replace(/[^\n]/g, ' ')
  let start = 0
  const plain = source.replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, blank)
  for (const { 0: tag, index } of plain.matchAll(/<!--[\s\S]*?-->|<[^<>]+>/g)) {
    for (const [, value = ''] of tag.matchAll(READ)) if (/ /.test(value)) add('message', index, value)
    if (tag.startsWith('<!--')) add('comment', index + 4, tag.slice(4, -3))
    if (INLINE.test(tag)) continue
    add('prose', start, plain.slice(start, index))
    start = index + tag.length
  }
  add('prose', start, plain.slice(start))
  return found
}
