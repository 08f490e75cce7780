import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

export const ROOT = new URL('../../../../', import.meta.url)
const DOCS = new URL('docs/', ROOT)
const RENDERED = new URL('rendered.json', import.meta.url)

const read = (path) => readFileSync(new URL(path, DOCS), 'utf8')
const filesOf = (ending) =>
  readdirSync(DOCS, { recursive: true })
    .filter((path) => path.endsWith(ending) && !path.startsWith('reference/api/'))
    .sort()

/** Returns the SHA-256 of a text. */
export const digestOf = (text) => createHash('sha256').update(text).digest('hex')

/** Returns the diagrams of all pages. */
export const diagrams = () =>
  filesOf('.md').flatMap((path) =>
    [...read(path).matchAll(/^```mermaid\n([\s\S]*?)^```$/gm)].map(([, code], index) => ({
      name: `${path} ${index + 1}`,
      code,
    })),
  )

/** Returns the pictures of `docs/assets`. They are written by hand. */
export const pictures = () => filesOf('.svg').map((path) => ({ path, text: read(path) }))

/** Reads the digests of the diagrams that the renderer accepted. */
export const readRendered = () => JSON.parse(readFileSync(RENDERED, 'utf8'))

export { RENDERED }
