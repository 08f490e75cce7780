import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Router } from 'express'
import { isLoopback } from '../../config.js'
import type { MailBox, SentLetter } from '../../data/mail-box.js'
import { plainPolicy } from '../security-headers.js'
import { escaped, FOLDER } from './page-router.js'

/** Creates a router with the page that shows the mails of the demo, and their links. */
export function mailBoxRouter({ list }: Pick<MailBox, 'list'>, folder = FOLDER): Router {
  const html = readFileSync(join(folder, 'page', 'mail-box.html'), 'utf8')
  const router = Router()
  router.get('/mailbox', plainPolicy, (req, res, next) => {
    // Otherwise a page of another site could read the codes, after its name has been made to lead here (DNS rebinding).
    if (!isLoopback(req.hostname)) return next('router')
    const letters = list()
    const mails = letters.map(htmlOf).join('') || '<p class="card quiet">There are no emails yet.</p>'
    res
      .set('Cache-Control', 'no-store')
      .type('html')
      .send(html.replace('{{mails}}', () => mails))
  })
  return router
}

function htmlOf({ to, subject, text, link, sentAt }: SentLetter): string {
  const time = sentAt.slice(0, 19).replace('T', ' ')
  return `<article class="card">
  <h2>${escaped(subject)}</h2>
  <p class="quiet">To <strong>${escaped(to)}</strong>, <time datetime="${escaped(sentAt)}">${escaped(time)} UTC</time></p>
  <p>${escaped(text)}</p>
  ${link === undefined ? '' : `<p><a href="${escaped(link)}">${escaped(subject)}</a></p>`}
</article>
`
}
