import { describe, expect, it } from 'vitest'
import { complaintsOf } from '../../support/documents/plain-words/check.js'
import { hashComments, stylesheetTexts } from '../../support/documents/plain-words/comments.js'
import { markdownTexts } from '../../support/documents/plain-words/markdown.js'
import { pageTexts } from '../../support/documents/plain-words/page.js'
import { PHRASES } from '../../support/documents/plain-words/phrases.js'
import { sentencesOf } from '../../support/documents/plain-words/sentences.js'
import type { Kind, Text } from '../../support/documents/plain-words/text.js'
import { scriptTexts } from '../../support/documents/plain-words/typescript.js'

const complaints = (text: string, kind: Kind = 'comment') => complaintsOf({ file: 'a.ts', line: 7, kind, text })
const words = (count: number) => `Word${' word'.repeat(count - 1)}.`
const brief = (texts: Text[]) => texts.map(({ kind, line, text }) => [kind, line, text.trim()])

/** A sentence for each banned phrase, in the order of the table. */
const BANNED = [
  'The guard answers with 401.',
  'A good token passes.',
  'The guard looks again.',
  'To take away a token, wait.',
  'The router shows its keys.',
  'The guard remembers a token.',
  'The database is away.',
  'The host hands over a store.',
  'The option may be left out.',
  'It waits at the gate.',
  'Each waits for its turn.',
  'It waits for a place.',
  'A budget limits logins.',
  'The limit is spent.',
  'The endpoint is the only door.',
  "One of the host's parts failed.",
  'The fleet shares a store.',
  'To change the signing key, wait.',
  'Users can log out.',
  'The connection lingers.',
  'The token is no JWT.',
  'Numbers alone are seconds.',
  'The store has a clock of its own.',
  'The login runs behind the check.',
  'The cache is beside the guard.',
  'The header stands first.',
  'The observer is told of it.',
  'The package goes without it.',
  'One hour unless set.',
  'Tokens are to be short.',
  'The queue holds so many.',
  'It serves whoever comes.',
  'The login goes on.',
  'A response is owed.',
  'The event, less the time.',
  "The token is the host's affair.",
]

const ACCEPTED: readonly (readonly [string, Kind])[] = [
  ['Returns 401 with `answers`, see {@link answer} or https://example.com/answer.', 'docstring'],
  ['The guard responds with 400 Bad Request.', 'comment'],
  ['There is no token, and the token is no longer valid.', 'comment'],
  ['Set the option "budgets" of createThrottle({ budgets }).', 'message'],
  ['The app runs behind a reverse proxy.', 'comment'],
  ['JWT stands for JSON Web Token.', 'comment'],
  ['Users search for “log out”.', 'prose'],
  ['Called when the store fails. When it fails again, the guard responds with 503.', 'docstring'],
  ['The time until which a token is valid.', 'docstring'],
  ['whether it was stored', 'tag'],
  ['Which account?', 'message'],
  ['How it works', 'prose'],
  [`${words(30)} ${words(30)}`, 'comment'],
  [`${words(20)}\n\n${words(20)}`, 'comment'],
  [`${words(20).slice(0, -1)}:\n- ${words(20)}`, 'comment'],
]

const REJECTED: readonly (readonly [string, Kind, string])[] = [
  ['What a store throws.', 'docstring', 'opens with "What"'],
  ['Whether it waits.', 'docstring', 'opens with "Whether"'],
  ['How long it waits.', 'docstring', 'opens with "How"'],
  ['Where accounts are kept.', 'docstring', 'opens with "Where"'],
  ['As the other one.', 'docstring', 'opens with "As"'],
  ['Is called later.', 'docstring', 'opens with "Is"'],
  ['For tests only.', 'docstring', 'opens with "For"'],
  ['what it must be', 'tag', 'opens with "what"'],
  ['What it throws is dropped.', 'comment', 'opens with "What"'],
  ['The store fails. Who asks gets 503.', 'comment', 'opens with "Who"'],
  [words(31), 'comment', '31 words'],
]

describe('the check of words', () => {
  it('has a sentence for each phrase', () => {
    expect(BANNED.filter((text, index) => text.search(PHRASES[index]?.pattern ?? /$/) < 0)).toEqual([])
    expect(BANNED).toHaveLength(PHRASES.length)
  })

  it.each(BANNED)('rejects "%s"', (text) => {
    expect(complaints(text)).toEqual([expect.stringMatching(/^a\.ts:7 ".+": write ./)])
  })

  it.each(ACCEPTED)('accepts "%s" as a %s', (text, kind) => {
    expect(complaints(text, kind)).toEqual([])
  })

  it.each(REJECTED)('rejects "%s" as a %s', (text, kind, complaint) => {
    expect(complaints(text, kind)).toEqual([expect.stringContaining(complaint)])
  })

  it('names the line of a phrase in a longer text', () => {
    expect(complaints('The guard\nresponds.\n\nThe answer.')).toEqual([expect.stringMatching(/^a\.ts:10 "answer": /)])
  })

  it('counts code as one word', () => {
    expect(sentencesOf('Pass `a b c` or `d`.').map((sentence) => sentence.words)).toEqual([4])
  })
})

describe('the reader of words', () => {
  it('finds docstrings, comments and messages of TypeScript', () => {
    const source = [
      '/**',
      ' * Reads a value',
      ' * of two lines.',
      ' * @param name - the {@link Name}',
      ' * @throws {Error} when there is none',
      ' * @example read("a b")',
      ' */',
      'export const read = (name: string) => // a trailing comment',
      '  // two lines',
      '  // of one comment',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is source text.
      '  `The value ${name /* inner */} is not here: ` + "https://example.com // no comment" + name',
      '',
      '// biome-ignore lint/x: the reason',
      "const sql = 'select a from b'",
      "const word = 'word'",
    ].join('\n')
    expect(brief(scriptTexts('a.ts', source, true))).toEqual([
      ['docstring', 1, 'Reads a value\nof two lines.'],
      ['tag', 4, 'the {@link Name}'],
      ['tag', 5, 'when there is none'],
      ['comment', 8, 'a trailing comment'],
      ['comment', 9, 'two lines\nof one comment'],
      ['comment', 11, 'inner'],
      ['comment', 13, 'the reason'],
      ['message', 11, 'The value ¤ is not here: https://example.com // no comment¤'],
    ])
    expect(scriptTexts('a.ts', source, false).map(({ kind }) => kind)).not.toContain('message')
  })

  it('finds the prose of Markdown', () => {
    const source =
      '# Title\n\nOne\nparagraph.\n\n- item\n- item\n\n| a | b |\n|---|---|\n| c | `d` |\n\n```ts\nanswer\n```\n'
    expect(brief(markdownTexts('a.md', source))).toEqual([
      ['prose', 1, 'Title'],
      ['prose', 3, 'One\nparagraph.'],
      ['prose', 6, 'item'],
      ['prose', 7, 'item'],
      ['prose', 9, 'a'],
      ['prose', 9, 'b'],
      ['prose', 11, 'c'],
      ['prose', 11, '`d`'],
    ])
  })

  it('finds the texts of a page', () => {
    const source =
      '<p>A <b>bold</b> word\n</p><script>const a = 1</script><!-- why -->\n<i aria-label="what it is">x</i>'
    expect(brief(pageTexts('a.html', source))).toEqual([
      ['prose', 1, 'A <b>bold</b> word'],
      ['comment', 2, 'why'],
      ['message', 3, 'what it is'],
      ['prose', 3, '<i aria-label="what it is">x</i>'],
    ])
  })

  it('finds the comments of stylesheets, scripts and configuration files', () => {
    expect(brief(stylesheetTexts('a.css', 'a {}\n/* why */'))).toEqual([['comment', 2, 'why']])
    expect(brief(hashComments('a.yml', '#!/bin/sh\n# two\n# lines\na: 1 # no'))).toEqual([['comment', 2, 'two\nlines']])
  })
})
