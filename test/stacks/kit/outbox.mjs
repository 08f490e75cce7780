import { EventEmitter, once } from 'node:events'

/** The mails of both products. It is not counted, because a product has SMTP instead. */
export const outbox = []
const sent = new EventEmitter().setMaxListeners(0)

export function sendMail(to, subject, link) {
  outbox.push({ to, subject, link })
  sent.emit('mail')
}

/** Takes the last mail of a subject to an address. Waits for it, because a product may send mails after its response. */
export async function mailTo(to, subject) {
  for (;;) {
    const found = outbox.findLast((mail) => mail.to === to && mail.subject === subject)
    if (found) return outbox.splice(outbox.indexOf(found), 1)[0]
    await once(sent, 'mail', { signal: AbortSignal.timeout(10_000) })
  }
}
