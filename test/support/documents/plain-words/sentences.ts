import { withoutCode } from './text.js'

export interface Sentence {
  text: string
  /** Position of the first character in the text. */
  start: number
  words: number
}

/** Paragraphs, list items, middle dots and the lines of indented help end a sentence without a full stop. */
const BLOCK_END = /\n\s*\n|\n(?=\s*(?:[-*•]|\d+\.)\s)|\n(?= {2,}\S)|\s·\s/

/** A full stop, after which a word with a capital letter, code or a quotation begins. */
const SENTENCE_END = /(?<=[.!?]["'”’)*_¤]*)\s+(?=["'“(*_[¤]*[\p{Lu}\d¤])/u

const WORD = /[\p{L}\p{N}¤]/u

/** Splits a text into sentences. A piece of code counts as one word. */
export function sentencesOf(text: string): Sentence[] {
  const found: Sentence[] = []
  for (const block of pieces(withoutCode(text), BLOCK_END)) {
    for (const { text, start } of pieces(block.text, SENTENCE_END)) {
      const words = text.replace(/¤[¤\s]*¤/g, '¤').split(/\s+/)
      found.push({ text, start: block.start + start, words: words.filter((word) => WORD.test(word)).length })
    }
  }
  return found.filter(({ words }) => words > 0)
}

/** Splits a text and keeps each piece's position. */
function pieces(text: string, separator: RegExp): { text: string; start: number }[] {
  const found: { text: string; start: number }[] = []
  let start = 0
  for (const { index, 0: gap } of text.matchAll(new RegExp(separator, `g${separator.flags}`))) {
    found.push({ text: text.slice(start, index), start })
    start = index + gap.length
  }
  return [...found, { text: text.slice(start), start }].map((piece) => {
    const trimmed = piece.text.trimStart()
    return { text: trimmed.trimEnd(), start: piece.start + piece.text.length - trimmed.length }
  })
}
