import type { Text } from './text.js'

/** Reads the prose of a Markdown document: a text for each paragraph, heading, list item and table cell. */
export function markdownTexts(file: string, source: string): Text[] {
  const found: Text[] = []
  let open: Text | undefined
  let fence = ''
  const add = (line: number, text: string) => {
    open = { file, line, kind: 'prose', text }
    found.push(open)
  }
  source.split('\n').forEach((text, index) => {
    const mark = /^\s*(```+|~~~+)/.exec(text)?.[1]
    if (mark && (!fence || mark.startsWith(fence))) {
      fence = fence ? '' : mark
      open = undefined
    } else if (fence || !text.trim() || /^\[[^\]]+\]: /.test(text) || /^\|?[\s:|-]+\|[\s:|-]*$/.test(text)) {
      open = undefined
    } else if (/^\s*\|/.test(text)) {
      for (const cell of text.split(/(?<!\\)\|/)) if (cell.trim()) add(index + 1, cell)
      open = undefined
    } else if (/^#+ /.test(text)) {
      add(index + 1, text.replace(/^#+ /, ''))
      open = undefined
    } else if (!open || /^\s*(?:[-*+]|\d+\.|>) /.test(text)) {
      add(index + 1, text.replace(/^\s*(?:[-*+]|\d+\.|>) +/, ''))
    } else {
      open.text += `\n${text}`
    }
  })
  return found
}
