/** `docstring` is a docstring's description, `tag` the text of a tag such as `@param`, `message` a string that people read. */
export type Kind = 'docstring' | 'tag' | 'comment' | 'message' | 'prose'

/** One text of a file: a docstring, a comment, a message or a paragraph. */
export interface Text {
  file: string
  /** Line of its first character, from 1. */
  line: number
  kind: Kind
  text: string
}

/** Stands for a character of code. Code, links, URLs and the words of others (in “…”) are not our prose. */
const CODE = '¤'

const NOT_PROSE = [
  /`[^`]+`/g,
  /"[\w.[\]¤-]+"/g,
  /\{@\w+ [^}]*\}/g,
  /\{ [^{}]* \}/g,
  /(?<=\])\([^)]*\)/g,
  /\bhttps?:\/\/\S+/g,
  /<!--[\s\S]*?-->/g,
  /“[^”]*”/g,
]

/** Replaces code, links and URLs with placeholders. Every other character keeps its position. */
export function withoutCode(text: string): string {
  const blocks = text.replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, ' '))
  const plain = NOT_PROSE.reduce((rest, code) => rest.replace(code, (found) => found.replace(/[^\n]/g, CODE)), blocks)
  return plain.replace(/<\/?[a-z][^<>]*>/gi, (tag) => tag.replace(/[^\n]/g, ' '))
}

/** Returns the line of a position in a text that starts at line `first`. */
export function lineAt(text: string, position: number, first: number): number {
  return first + text.slice(0, position).split('\n').length - 1
}
