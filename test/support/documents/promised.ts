import { readPage } from './pages.js'

/** Returns a part of a page, with each sentence on one line. */
function part(path: string, from: string, to: string): string {
  const text = readPage(path).text.replace(/\n {2,}/g, ' ')
  return text.slice(text.indexOf(from), text.indexOf(to))
}

/** The promises of the package: those of the page on security, and those about floods, which are with their measurements. */
export const PROMISED =
  part('docs/explanation/security.md', '## Promises', '## Trusted components') +
  part('test/performance/under-attack.md', '## Promises about floods', '### Known limits of the queues')
