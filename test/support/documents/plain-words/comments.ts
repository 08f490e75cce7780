import { lineAt, type Text } from './text.js'

/** Reads the comments of a stylesheet. */
export function stylesheetTexts(file: string, source: string): Text[] {
  return [...source.matchAll(/\/\*([\s\S]*?)\*\//g)].map(({ 1: text = '', index }) => {
    return { file, line: lineAt(source, index, 1), kind: 'comment', text }
  })
}

/** Reads the comments of a script or a configuration file that start with `#`. */
export function hashComments(file: string, source: string): Text[] {
  return [...source.matchAll(/^[ \t]*#(?!!).*(?:\n[ \t]*#.*)*/gm)].map(({ 0: block, index }) => {
    return { file, line: lineAt(source, index, 1), kind: 'comment', text: block.replace(/^[ \t]*# ?/gm, '') }
  })
}
