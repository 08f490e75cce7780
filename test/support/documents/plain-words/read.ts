import { readdirSync, readFileSync } from 'node:fs'
import { filesBelow, root } from '../repository.js'
import { hashComments, stylesheetTexts } from './comments.js'
import { markdownTexts } from './markdown.js'
import { pageTexts } from './page.js'
import type { Text } from './text.js'
import { scriptTexts } from './typescript.js'

const PLACES = ['src', 'example-app', 'test', 'docs', '.github', '.ci']

/** Returns the files that people read, relative to the root of the project. */
export function readableFiles(): string[] {
  const documents = readdirSync(root).filter((name) => name.endsWith('.md'))
  return [...documents, ...PLACES.flatMap(filesBelow)].filter((file) => readerOf(file)).sort()
}

/** Reads the texts of a file. */
export function textsOf(file: string): Text[] {
  return readerOf(file)?.(file, readFileSync(root + file, 'utf8')) ?? []
}

type Reader = (file: string, source: string) => Text[]

/** Returns the reader for a file. A test's string literals are data, so nobody checks them. */
function readerOf(file: string): Reader | undefined {
  if (/\.[cm]?[jt]s$/.test(file)) return (_, source) => scriptTexts(file, source, !file.startsWith('test/'))
  if (file.endsWith('.md')) return markdownTexts
  if (file.endsWith('.html')) return pageTexts
  if (file.endsWith('.css')) return stylesheetTexts
  return /\.(ya?ml|conf|service|sh)$|(^|\/)(run|Dockerfile)$/.test(file) ? hashComments : undefined
}
