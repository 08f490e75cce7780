import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { filesBelow, root } from '../../../support/documents/repository.js'
import { PHRASES } from './phrases.js'
import { scriptTexts, type Text, textsOf } from './texts.js'

/** The longest sentence that passes, in words. Authors aim at 25. */
const LONGEST = 30

/** Code, links, URLs and the words of others (in “…”) count as one word. */
const NOT_PROSE =
  /^```[\s\S]*?^```|`[^`]+`|"[\w.[\]¤-]+"|\{@\w+ [^}]*\}|\{ [^{}]* \}|(?<=\])\([^)]*\)|\bhttps?:\/\/\S+|<!--[\s\S]*?-->|“[^”]*”/gm
/** Paragraphs, list items, middle dots, the lines of indented help, and a full stop before a new word. */
const SENTENCE_END =
  /\n\s*\n|\n(?=\s*(?:[-*•]|\d+\.)\s)|\n(?= {2,}\S)|\s·\s|(?<=[.!?]["'”’)*_¤]*)\s+(?=["'“(*_[¤]*[\p{Lu}\d¤])/u

const CLAUSE = 'Who|Whom|Whose|Whoever|Whomever|What|Whatever|Which|Whichever|Whether'
const OTHERS =
  'How|However|When|Whenever|Where|Wherever|Why|If|Unless|That|So|As|Because|While|Since|Until|Than|Though|' +
  'Is|Are|Was|Were|Be|Been|Do|Does|Did|Can|Cannot|Could|May|Might|Must|Shall|Should|Will|Would|Not|There|It|They|Those|These|He|She'
const PREPOSITION =
  'After|Against|Among|At|Before|Behind|Below|Beside|Besides|Between|By|For|From|In|Into|Of|On|Onto|Over|To|Under|Upon|With|Within|Without'

/** Openings that are neither a verb nor a noun phrase. `@returns whether …` and questions are current English. */
const HEADLESS = new RegExp(`^["“(*_]*(${CLAUSE})\\b[^?]*$`)
const WRONG_OPENING: Partial<Record<Text['kind'], RegExp>> = {
  docstring: new RegExp(`^["“(*_]*(${CLAUSE}|${OTHERS}|${PREPOSITION})\\b`),
  tag: new RegExp(`^(?!whether\\b)(${CLAUSE}|${OTHERS})\\b`, 'i'),
}

/** Returns what is wrong with a text, and what to write instead. */
function complaintsOf({ text, kind }: Text): string[] {
  const plain = text.replace(NOT_PROSE, '¤').replace(/<\/?[a-z][^<>]*>/gi, ' ')
  const sentences = plain.split(SENTENCE_END).map((sentence) => sentence.replace(/\s+/g, ' ').trim())
  return sentences.flatMap((sentence, index) => {
    const phrases = PHRASES.flatMap(({ pattern, write }) =>
      (sentence.match(pattern) ?? []).map((found) => `"${found}": write ${write}`),
    )
    const [, opening] = ((index === 0 && WRONG_OPENING[kind]) || HEADLESS).exec(sentence) ?? []
    if (opening) phrases.push(`opens with "${opening}": open with a verb or a noun phrase`)
    const words = sentence.split(' ').filter((word) => /[\p{L}\p{N}¤]/u.test(word)).length
    if (words > LONGEST) phrases.push(`${words} words: split it`)
    return phrases.map((complaint) => `${complaint} (${sentence})`)
  })
}

const words = (count: number) => `Word${' word'.repeat(count - 1)}.`

describe('the check of words', () => {
  it.each<[string, Text['kind'], string]>([
    ['The guard answers.', 'comment', '"answers": write response'],
    ['There is none. The `guard` stands first.', 'message', '"stands": write is'],
    ['What a store throws.', 'docstring', 'opens with "What"'],
    ['For tests only.', 'docstring', 'opens with "For"'],
    ['what it must be', 'tag', 'opens with "what"'],
    ['The store fails. Who asks gets 503.', 'comment', 'opens with "Who"'],
    [words(31), 'prose', '31 words'],
  ])('rejects "%s" as a %s', (text, kind, complaint) => {
    expect(complaintsOf({ kind, text })).toEqual([expect.stringContaining(complaint)])
  })

  it.each<[string, Text['kind']]>([
    ['Returns 401 with `answers`, see {@link answer} or https://example.com/answer.', 'docstring'],
    ['Called when the store fails. When it fails again, the guard responds with 400 Bad Request.', 'docstring'],
    ['whether it was stored', 'tag'],
    ['Which account?', 'message'],
    [`${words(30)} ${words(30)}\n\n${words(20)}`, 'comment'],
  ])('accepts "%s" as a %s', (text, kind) => {
    expect(complaintsOf({ kind, text })).toEqual([])
  })

  it('reads docstrings, comments and messages of TypeScript', () => {
    const source = `/** Reads.
 * @param a the name
 * @example b */
f(\`of \${1 /* in */} a\` + '// b') // c
// two
// lines`
    const texts = scriptTexts(source, true).map(({ kind, text }) => [kind, text.trim()])
    expect(texts).toEqual([
      ['docstring', 'Reads.'],
      ['tag', 'the name'],
      ['comment', 'in'],
      ['comment', 'c'],
      ['comment', 'two\nlines'],
      ['message', 'of ¤ a// b'],
    ])
  })
})

it('the words of every file are plain', () => {
  const documents = readdirSync(root).filter((name) => name.endsWith('.md'))
  const below = ['src', 'example-app', 'test', 'docs', '.github'].flatMap(filesBelow)
  const files = [...documents, ...below].filter((file) => /\.([cm]?[jt]s|md|html)$/.test(file))
  expect(files).toEqual(expect.arrayContaining(['README.md', 'docs/tutorial.md', 'src/index.ts']))
  expect(
    files.flatMap((file) =>
      textsOf(file)
        .flatMap(complaintsOf)
        .map((complaint) => `${file}: ${complaint}`),
    ),
  ).toEqual([])
})
