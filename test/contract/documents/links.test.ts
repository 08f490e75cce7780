import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPage, shippedPages } from '../../support/documents/pages.js'
import { documents, root } from '../../support/documents/repository.js'

const PAGES = documents().map(readPage)
const SHIPPED = new Set([...shippedPages(), 'LICENSE'])

const isWeb = (target: string) => /^[a-z]+:/.test(target)

/** Returns the file and the anchor that a link of a page leads to. */
function targetOf(page: string, link: string): { file: string; anchor: string | undefined } {
  const [path = '', anchor] = link.split('#')
  return { file: path === '' ? page : posix.join(posix.dirname(page), path), anchor }
}

const anchorsOf = (file: string) => readPage(file).headings.map(({ anchor }) => anchor)

describe('the links of', () => {
  it.each(PAGES)('$path lead to files and to headings', ({ path, links }) => {
    const local = links.filter((link) => !isWeb(link)).map((link) => ({ link, ...targetOf(path, link) }))
    expect(local.filter(({ file }) => !existsSync(root + file))).toEqual([])
    const toHeadings = local.filter(({ anchor }) => anchor !== undefined)
    const unclear = toHeadings.filter(
      ({ file, anchor }) => anchorsOf(file).filter((one) => one === anchor).length !== 1,
    )
    expect(unclear).toEqual([])
  })

  it.each(PAGES)('$path to the web are https', ({ links }) => {
    expect(links.filter((link) => isWeb(link) && !link.startsWith('https://'))).toEqual([])
  })

  it.each(PAGES.filter(({ path }) => SHIPPED.has(path)))(
    '$path lead to files of the package, to pictures or to evidence',
    ({ path, links }) => {
      const files = links.filter((link) => !isWeb(link)).map((link) => targetOf(path, link).file)
      expect(files.filter((file) => !SHIPPED.has(file) && !/^docs\/(assets|evidence)\//.test(file))).toEqual([])
    },
  )
})
