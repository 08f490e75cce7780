import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createApp } from './app.js'

const port = Number(process.env.PORT || 3000)
const issuer = process.env.ORIGIN || `http://localhost:${port}`
mkdirSync('data', { recursive: true, mode: 0o700 })
writeFileSync('data/.gitignore', '*\n') // Git must not see the secret and the database.
if (!existsSync('data/secret')) writeFileSync('data/secret', randomBytes(32).toString('base64url'), { mode: 0o600 })
const secret = process.env.AUTH_SECRET || readFileSync('data/secret', 'utf8')

/** Prints a mail. Send it instead before you deploy, because who has the code can set the password. */
const mail = ({ kind, to, code }) => print(`Mail to ${to}: ${kind}${code ? ` ${issuer}/#${kind}=${code}` : ''}`)
const print = (line) => process.stdout.write(`${line}\n`)

const app = await createApp({ file: 'data/app.sqlite', issuer, secret, mail })
app.listen(port, process.env.HOST || '127.0.0.1', (error) => print(error ?? `Open ${issuer}`))
