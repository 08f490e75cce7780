import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { filesBelow, root } from './repository.js'

/** A heading of a page. */
export interface Heading {
  level: number
  text: string
  anchor: string
}

/** A code block of a page. Blocks of TypeScript and JavaScript have a name. */
export interface Block {
  page: string
  language: string
  name: string | undefined
  code: string
}

/** Returns GitHub's anchor of a heading: lower case, no punctuation, and a dash for each space. */
const anchorOf = (heading: string) =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** The files of this project in the repository, to which pages of the package link when the package does not contain the target. */
const REPOSITORY = /^https:\/\/github\.com\/express-token-endpoint\/express-token-endpoint\/(blob|raw)\/main\//

/** Returns the targets of all links and pictures of a text without code blocks. */
export const linksIn = (prose: string): string[] =>
  [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)

/** Returns whether a link leads to the web, and not to a file of this project. */
export const isWeb = (link: string): boolean => /^[a-z]+:/.test(link) && !REPOSITORY.test(link)

/** Returns the file and the anchor that a link of a page leads to. */
export function targetOf(page: string, link: string): { file: string; anchor: string | undefined } {
  const [path = '', anchor] = link.replace(REPOSITORY, '').split('#')
  if (REPOSITORY.test(link)) return { file: path, anchor }
  return { file: path === '' ? page : posix.join(posix.dirname(page), path), anchor }
}

/** Reads a Markdown page. The path is relative to the root of the project. */
export function readPage(path: string) {
  const text = readFileSync(root + path, 'utf8')
  /** The page without its code blocks, in which `#` does not start a heading. */
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '')
  const headings: Heading[] = [...prose.matchAll(/^(#+) (.+)$/gm)].map(([, marks = '', title = '']) => ({
    level: marks.length,
    text: title,
    anchor: anchorOf(title),
  }))

  /** Returns the text below a heading, down to the next heading of the same or a higher level. */
  function section(heading: string): string {
    const [, below] = `\n${prose}`.split(`\n${heading}\n`)
    if (below === undefined) throw new Error(`${path} has no "${heading}"`)
    const level = /^#+/.exec(heading)?.[0].length ?? 1
    return below.split(new RegExp(`^#{1,${level}} `, 'm'))[0] as string
  }

  return {
    path,
    text,
    prose,
    headings,
    blocks: blocksIn(path, text),
    links: linksIn(prose),
    section,
    /** Returns the cells of each row of a section's tables, without the heads. */
    tableIn: (heading: string): string[][] => rowsOf(section(heading)),
  }
}

export type Page = ReturnType<typeof readPage>

const BLOCK = /^(?:<!-- example: (.+) -->\n)?```(\w*)\n([\s\S]*?)^```$/gm

const blocksIn = (page: string, text: string): Block[] =>
  [...text.matchAll(BLOCK)].map(([, name, language = '', code = '']) => ({ page, language, name, code }))

function rowsOf(text: string): string[][] {
  const tables = text.match(/(^\|.*\|\n)+/gm) ?? []
  return tables
    .flatMap((table) => table.trim().split('\n').slice(2))
    .map((row) =>
      row
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    )
}

const { files } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { files: string[] }
const REPOSITORY_ONLY = files.filter((file) => file.startsWith('!')).map((file) => file.slice(1))

/** Returns whether a page is in the repository and not in the package. */
export const isRepositoryOnly = (path: string) =>
  path === 'CHANGELOG.md' || REPOSITORY_ONLY.some((one) => path === one || path.startsWith(`${one}/`))

/** Returns the paths of the pages that the package contains: the README, the guides, the reference, the policy for vulnerabilities. */
export function shippedPages(): string[] {
  return ['README.md', '.github/SECURITY.md', ...pagesBelow('docs')].filter((path) => !isRepositoryOnly(path))
}

/** Returns the paths of the pictures that the package contains. */
export const shippedPictures = (): string[] => filesBelow('docs/assets')

/** Returns the paths of all Markdown files of a folder and its subfolders. */
export const pagesBelow = (folder: string) => filesBelow(folder).filter((file) => posix.extname(file) === '.md')

/** Programs that the pages link to. */
const PROGRAMS = ['graphql', 'keys', 'limits'].map((folder) => `test/contract/documents/examples/${folder}/README.md`)

/** Returns all blocks of TypeScript and JavaScript of the pages. */
export const examples = (): Block[] =>
  [...shippedPages(), ...pagesBelow('docs').filter(isRepositoryOnly), ...PROGRAMS].flatMap((path) =>
    readPage(path).blocks.filter(({ language }) => /^(ts|js)$/.test(language)),
  )
