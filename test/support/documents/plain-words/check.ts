import { headless, wrongOpening, wrongTagOpening } from './openings.js'
import { PHRASES } from './phrases.js'
import { sentencesOf } from './sentences.js'
import { lineAt, type Text, withoutCode } from './text.js'

/** The longest sentence that passes, in words. Authors aim at 25. */
export const LONGEST = 30

/** Returns what is wrong with a text, each with file, line and what to write instead. */
export function complaintsOf(text: Text): string[] {
  const at = (position: number) => `${text.file}:${lineAt(text.text, position, text.line)}`
  return [...phrasesIn(text, at), ...openingsOf(text, at), ...longSentences(text, at)]
}

type At = (position: number) => string

function phrasesIn({ text }: Text, at: At): string[] {
  const plain = withoutCode(text)
  return PHRASES.flatMap(({ pattern, write }) =>
    [...plain.matchAll(pattern)].map(({ 0: found, index }) => `${at(index)} "${oneLine(found)}": write ${write}`),
  )
}

function openingsOf({ text, kind }: Text, at: At): string[] {
  return sentencesOf(text).flatMap((sentence, index) => {
    const opens = index > 0 ? headless : ({ docstring: wrongOpening, tag: wrongTagOpening }[kind as string] ?? headless)
    const word = opens(sentence.text)
    return word ? [`${at(sentence.start)} opens with "${word}": open with a verb or a noun phrase`] : []
  })
}

function longSentences({ text }: Text, at: At): string[] {
  return sentencesOf(text)
    .filter(({ words }) => words > LONGEST)
    .map((sentence) => `${at(sentence.start)} ${sentence.words} words: split "${oneLine(sentence.text).slice(0, 40)}…"`)
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()
