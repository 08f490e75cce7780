import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'

/** The kinds of pages, in the order of llms.txt, and how their paths begin. */
const KINDS = [
  ['Start', /^(README\.md|docs\/tutorial\.md)$/],
  ['Guides', /^docs\/guides\//],
  ['Reference', /^docs\/reference\//],
  ['Explanation', /^docs\/explanation\//],
]

const FULL = 'docs/llms-full.txt'

/** Returns the pages that a page links to, each once, in their order. */
function linkedPages(path, text) {
  const targets = [...text.matchAll(/\]\(([^)\s#]+\.md)(?:#[^)]*)?\)/g)].map(([, target]) => target)
  const pages = targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => posix.join(posix.dirname(path), target))
  return [...new Set(pages)].filter((page) => KINDS.some(([, paths]) => paths.test(page)))
}

/** Returns a page's title and the first sentence below it, without links and emphasis. */
function summaryOf(text) {
  const [, title, paragraph] = /^# (.+)\n+([^\n#<`|!][\s\S]*?)\n\n/m.exec(text) ?? []
  const plain = (paragraph ?? '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '')
    .replace(/\s+/g, ' ')
  return { title, sentence: /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain }
}

/**
 * Makes the texts for language models from the pages: an index, and all pages in one file (https://llmstxt.org).
 * @param root the URL of the project's folder
 * @returns the texts by their paths
 */
export async function llmsTexts(root) {
  const read = async (path) => [path, await readFile(new URL(path, root), 'utf8')]
  const [, index] = await read('docs/README.md')
  const pages = await Promise.all(
    ['README.md', ...linkedPages('docs/README.md', index).filter((page) => page !== 'README.md')].map(read),
  )
  const { title, sentence } = summaryOf(pages[0][1])
  const sections = KINDS.map(([kind, paths]) => {
    const rows = pages
      .filter(([path]) => paths.test(path))
      .map(([path, text]) => {
        const summary = summaryOf(text)
        return `- [${summary.title}](${path}): ${summary.sentence}`
      })
    return `## ${kind}\n\n${rows.join('\n')}\n`
  })
  const all = `- [All pages in one file](${FULL})\n`
  return new Map([
    ['llms.txt', `# ${title}\n\n> ${sentence}\n\n${sections.join('\n')}\n## Optional\n\n${all}`],
    [FULL, pages.map(([path, text]) => `<!-- ${path} -->\n\n${text.trim()}\n`).join('\n\n')],
  ])
}
