/** The mails of both products. It is not counted, because a product has SMTP instead. */
export const outbox = []
export const sendMail = (to, subject, link) => outbox.push({ to, subject, link })
