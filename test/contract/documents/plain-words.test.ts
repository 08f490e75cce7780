import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { documents, filesBelow, root } from '../../support/documents/repository.js'

/** The phrases that `CONTRIBUTING.md` bans, without regard to case and between word boundaries, and what to write instead. */
const PHRASES = [
  // The glossary.
  ['answer(?:s|ed|ing)?', 'response, return value, result; responds, returns'],
  ['(?:good|bad)(?! (?:request|gateway|practice|idea|reason)\\b)', 'valid, invalid'],
  ['(?:looks?|looked|looking|checks?) again|(?:first|second) look|looks? twice', 'check on every request'],
  ['(?:takes?|taking|took|taken) away', 'revoke'],
  ['(?:shows?|follow(?:s|ed|ing)?) (?:the |its |their )?(?:public )?keys', 'publish keys, fetch and cache keys'],
  ['remember(?:s|ed|ing)?', 'cache'],
  ['(?:is|are|was|were|be|been|stays?|goes) away', 'unreachable, down'],
  ['hand(?:s|ed|ing)|hand (?:it|them|that|express|in|over|out|on|back)', 'pass (an argument)'],
  ['(?:leav(?:e|es|ing)|left)(?: \\S+)? out', 'omit, skip'],
  ['gates?|gatekeepers?|turnstiles?', 'limit, queue'],
  ['(?:its|their|a|his|your|every|each) turn(?! of the event loop)', 'queue slot'],
  ['(?:its|their|a|free|no|another|queue) place(?! where)|places? in the queue', 'queue slot'],
  ['budgets?', 'failed-login limit'],
  ['(?:is|are|was|were|be|been) spent|spend(?:s|ing)?|(?:one|two|a|\\d+) points?', 'use up, count'],
  ['doors?|doorkeepers?', 'router, endpoint'],
  ["(?:host's|your|failing|which|own) parts?", 'dependency (account store, password check …)'],
  ['fleets?', 'several processes, several instances'],
  ['chang(?:e|es|ed|ing) (?:the |its |their )?(?:signing )?key', 'rotate keys'],
  ['log(?:s|ged|ging)?[ -]out|logouts?', 'sign out'],
  ['pac(?:e|es|ed|ing)|pacers?|linger(?:s|ed|ing)?', 'rate-limit, delay, drain'],
  // The idiom.
  ['(?<!there )(?:is|are|was|were) no(?! (?:longer|more|less|later|earlier)\\b)', 'is not a'],
  ['alone', 'only'],
  ["of (?:its|their|his|her|your|our|my|[\\w']+'s) own", 'its own, custom'],
  ['behind(?! (?:\\S+ ){0,3}(?:prox(?:y|ies)|(?:load )?balancers?|nginx|firewalls?|cdn)\\b)', 'after'],
  ['beside', 'in addition to, next to'],
  ['(?:stands?|stood|standing)(?! for\\b| in\\b|-in\\b)', 'is'],
  ['told|(?:is|are|was|were|be) asked', 'is called with, receives'],
  ['(?:goes|go|going|went|gone|does|do|makes?) without', 'works without, omits'],
  ['unless (?:it is |they are )?set', 'by default'],
  ['(?:is|are|was|were) to be', 'an imperative'],
  ['so (?:many|much)|in time', 'the number'],
  ['(?:who|what|whom|which)(?:so)?ever|whom', 'the actor, any'],
  ['(?:goes|go|went|gone|going) on', 'continues'],
  ['(?:is|are|was|were) owed|owes?', 'is pending'],
  ['less (?:the|what|those|its)|save for|nothing but|none but|in vain|lest', 'without, only, an actor and a verb'],
  ["(?:host's|compiler's|caller's|reader's) affair", 'an actor and a verb'],
].map(([words, write]) => ({ pattern: new RegExp(`(?<![\\w-])(?:${words})(?![\\w])`, 'giu'), write }))

/** `docstring` is a docstring's description, `tag` the text of a tag such as `@param`, `message` a string that people read. */
interface Text {
  kind: 'docstring' | 'tag' | 'comment' | 'message' | 'prose'
  text: string
}

/** Reads what people read in a file. A test's string literals are data, so nobody checks them. */
function textsOf(file: string): Text[] {
  const source = readFileSync(root + file, 'utf8')
  if (file.endsWith('.md')) return [{ kind: 'prose', text: markdownProse(source) }]
  if (file.endsWith('.html')) return [{ kind: 'prose', text: htmlProse(source) }]
  return scriptTexts(source, !file.startsWith('test/'))
}

/** Ends a paragraph at each heading, list item and table cell. */
const markdownProse = (source: string) =>
  source
    .replace(/^\s*(```+|~~~+)[\s\S]*?^\s*\1.*$/gm, '')
    .replace(/^\[[^\]]+\]: .*|(?<!\\)\||^\s*(?:[-*+>]|\d+\.) +|^#+ /gm, '\n\n')
    .replace(/^#.*$/gm, '$&\n\n')

const htmlProse = (source: string) =>
  source
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, '')
    .replace(/<[^>]*?\b(?:title|alt|aria-label|placeholder|content)="([^"]*)"[^>]*>/g, '\n\n$1\n\n')
    .replace(/<(?!\/?(?:a|abbr|b|code|em|i|kbd|small|strong|time)\b)[^<>]+>/gi, '\n\n')

/** Instructions to tools. The reason after them is prose. */
const DIRECTIVE = /^(biome-ignore|eslint|c8|v8)\b[^:]*:? ?|^@ts-[\w-]+ ?/
/** A comment, or line comments on consecutive lines. */
const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^[ \t]*)\/\/.*(?:\n[ \t]*\/\/.*)*|\/\/.*/gm

/** Reads the comments of a TypeScript or JavaScript file, and its string literals if `messages` is set. */
function scriptTexts(source: string, messages: boolean): Text[] {
  const tree = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true)
  const found: Text[] = []
  let withoutLiterals = source
  const visit = (node: ts.Node, isPart = false): void => {
    if (ts.isLiteralExpression(node) || ts.isTemplateMiddleOrTemplateTail(node) || ts.isTemplateHead(node)) {
      const start = node.getStart(tree)
      withoutLiterals = withoutLiterals.slice(0, start) + ' '.repeat(node.end - start) + withoutLiterals.slice(node.end)
    }
    const text = isPart ? undefined : literalText(node)
    if (messages && text !== undefined && / .*[a-z]|[a-z].* /i.test(text)) found.push({ kind: 'message', text })
    ts.forEachChild(node, (child) => visit(child, isPart || (text !== undefined && !ts.isTemplateExpression(node))))
  }
  visit(tree)
  const comments = withoutLiterals.matchAll(COMMENT)
  return [
    ...[...comments].flatMap(({ index, 0: { length } }) => commentTexts(source.slice(index, index + length))),
    ...found,
  ]
}

/** Returns the text of a literal, of a template or of literals joined by `+`. A `¤` stands for code. */
function literalText(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    return [node.head.text, ...node.templateSpans.map(({ literal }) => `¤${literal.text}`)].join('')
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined
  const [left, right] = [literalText(node.left), literalText(node.right)]
  return left === undefined && right === undefined ? undefined : `${left ?? '¤'}${right ?? '¤'}`
}

function commentTexts(comment: string): Text[] {
  if (!comment.startsWith('/**')) {
    const text = comment.replace(/^\/\*|\*\/$|^\s*\/\/ ?/gm, '').trimStart()
    return [{ kind: 'comment', text: text.replace(DIRECTIVE, '') }]
  }
  const [description = '', ...tags] = comment
    .replace(/^\/\*\*|\*\/$/g, '')
    .replace(/^\s*\* ?/gm, '')
    .split(/^\s*@(?=\w)/m)
  const prose = tags
    .filter((tag) => !/^(example|see|type|typedef|default|module|useDeclaredType|inline|internal)\b/.test(tag))
    .map((tag) =>
      tag.replace(
        /^(?:(?:param|property|template|typeParam)\s+(?:\{[^}]*\}\s*)?\S+(?:\s+-)?|\w+(?:\s+\{[^}]*\})?)\s*/,
        '',
      ),
    )
  return [{ kind: 'docstring', text: description }, ...prose.map((text) => ({ kind: 'tag' as const, text }))]
}

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

it.each<[string, Text['kind'], string | undefined]>([
  ['The guard answers.', 'comment', '"answers": write response'],
  ['There is none. The `guard` stands first.', 'message', '"stands": write is'],
  ['What a store throws.', 'docstring', 'opens with "What"'],
  [words(31), 'prose', '31 words'],
  [
    'Returns 401 with `answers`, see {@link answer} or https://example.com/answer. Called for a Bad Request.',
    'docstring',
    undefined,
  ],
  [`${words(30)} ${words(30)}\n\n${words(20)}`, 'comment', undefined],
])('the check of words reads "%s" as a %s: %s', (text, kind, complaint) => {
  expect(complaintsOf({ kind, text })).toEqual(complaint ? [expect.stringContaining(complaint)] : [])
})

it('the words of every file are plain', () => {
  const below = ['src', 'example-app', 'test', 'docs', '.github'].flatMap(filesBelow)
  const files = [...new Set([...documents(), ...below])].filter((file) => /\.([cm]?[jt]s|md|html)$/.test(file))
  const texts = files.flatMap((file) => textsOf(file).map((text) => ({ ...text, file })))
  expect(texts.flatMap((text) => complaintsOf(text).map((complaint) => `${text.file}: ${complaint}`))).toEqual([])
  // So that a reader of files which finds nothing does not pass.
  const count = (kind: Text['kind']) => texts.filter((text) => text.kind === kind).length
  expect(count('prose')).toBeGreaterThan(60)
  for (const kind of ['docstring', 'tag', 'comment', 'message'] as const) expect(count(kind), kind).toBeGreaterThan(100)
})
