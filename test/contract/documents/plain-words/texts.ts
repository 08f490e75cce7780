import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { root } from '../../../support/documents/repository.js'

/** `docstring` is a docstring's description, `tag` the text of a tag such as `@param`, `message` a string that people read. */
export interface Text {
  kind: 'docstring' | 'tag' | 'comment' | 'message' | 'prose'
  text: string
}

/** Reads what people read in a file. A test's string literals are data, so nobody checks them. */
export function textsOf(file: string): Text[] {
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
export function scriptTexts(source: string, messages: boolean): Text[] {
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
