import ts from 'typescript'
import { docstringTexts } from './docstring.js'
import type { Text } from './text.js'

/** Instructions to tools. The reason after them is prose. */
const DIRECTIVE = /^(biome-ignore|eslint|c8|v8)\b[^:]*:? ?|^@ts-[\w-]+ ?/

/**
 * Reads the docstrings and comments of a TypeScript or JavaScript file.
 * @param messages whether string literals are read too
 */
export function scriptTexts(file: string, source: string, messages: boolean): Text[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const lineOf = (position: number) => tree.getLineAndCharacterOfPosition(position).line + 1
  const texts = commentsOf(tree).flatMap((range) => {
    const text = source.slice(range.pos, range.end)
    const line = lineOf(range.pos)
    if (text.startsWith('/**')) return docstringTexts(file, line, text)
    return [{ file, line, kind: 'comment' as const, text: plainComment(text) }]
  })
  if (!messages) return texts
  return [
    ...texts,
    ...messagesOf(tree).map(({ start, text }) => ({ file, line: lineOf(start), kind: 'message' as const, text })),
  ]
}

function plainComment(comment: string): string {
  const text = comment.startsWith('/*') ? comment.slice(2, -2) : comment.replace(/^\s*\/\/ ?/gm, '')
  return text.trimStart().replace(DIRECTIVE, '')
}

interface Range {
  pos: number
  end: number
}

/** Returns the comments in their order. Line comments on consecutive lines are one comment. */
function commentsOf(tree: ts.SourceFile): Range[] {
  const comments = [...withoutLiterals(tree).matchAll(/\/\*[\s\S]*?\*\/|\/\/.*/g)]
  const ranges = comments.map(({ 0: text, index }) => ({ pos: index, end: index + text.length }))
  return ranges.reduce<Range[]>((merged, range) => {
    const last = merged.at(-1)
    if (last && continues(tree.text, last, range)) last.end = range.end
    else merged.push(range)
    return merged
  }, [])
}

/** Returns the source with blanks for its literals, which may contain what looks like a comment. */
function withoutLiterals(tree: ts.SourceFile): string {
  let source = tree.text
  const visit = (node: ts.Node): void => {
    if (ts.isLiteralExpression(node) || ts.isTemplateMiddleOrTemplateTail(node) || ts.isTemplateHead(node)) {
      const start = node.getStart(tree)
      source = source.slice(0, start) + ' '.repeat(node.end - start) + source.slice(node.end)
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return source
}

/** Returns whether a line comment is below another that has its line to itself. */
function continues(source: string, { pos, end }: Range, next: Range): boolean {
  const isLine = source.startsWith('//', pos) && source.startsWith('//', next.pos)
  return isLine && /^\n[ \t]*$/.test(source.slice(end, next.pos)) && /(^|\n)[ \t]*$/.test(source.slice(0, pos))
}

/** Returns the string and template literals that contain a space and a letter. Literals joined by `+` are one. */
function messagesOf(tree: ts.SourceFile): { start: number; text: string }[] {
  const found: { start: number; text: string }[] = []
  const visit = (node: ts.Node): void => {
    const text = textOf(node)
    if (text !== undefined && isMessage(text)) found.push({ start: node.getStart(tree), text })
    if (text === undefined || ts.isTemplateExpression(node)) ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

const SQL = /^\s*(select|insert|update|delete|create|alter|drop|with) /i

const isMessage = (text: string) => / /.test(text) && /[a-z]/i.test(text) && !SQL.test(text)

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    return [node.head.text, ...node.templateSpans.map(({ literal }) => `¤${literal.text}`)].join('')
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined
  const [left, right] = [textOf(node.left), textOf(node.right)]
  return left === undefined && right === undefined ? undefined : `${left ?? '¤'}${right ?? '¤'}`
}
