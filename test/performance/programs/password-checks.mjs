// The password checks of the part `logins`: one hash, one check at a time. Sends the rounds of each kind: microseconds of processor time,
// by the name of the package.
import crypto from 'node:crypto'
import { argon2id, bcrypt, createPasswords } from 'express-token-endpoint'
import { inRounds } from '../harness/statistics.mjs'
import { hashers } from '../peers/hashers.mjs'
import { microsecondsOf } from './serve.mjs'

const PASSWORD = 'correct horse'
const CHECKS = { argon2id: 10, bcrypt: 1 }
const OURS = { argon2id: argon2id(), bcrypt: bcrypt() }

const found = {}
for (const [kind, peers] of Object.entries(hashers)) {
  const passwords = createPasswords({ hashers: [OURS[kind]] })
  const variants = [{ name: 'this package', verify: passwords.verify }, ...peers]
  if (kind === 'argon2id' && crypto.argon2) variants.push({ name: 'crypto.argon2', ...argon2id({ engine: 'node' }) })
  const hash = await passwords.hash(PASSWORD)
  for (const { name, verify } of variants) {
    if ((await verify(PASSWORD, hash)) !== true) throw new Error(`${name}: refuses the password`)
    if ((await verify('wrong horse', hash)) !== false) throw new Error(`${name}: accepts another password`)
  }
  found[kind] = await inRounds(Number(process.argv[2]), variants, ({ verify }) =>
    microsecondsOf(CHECKS[kind], () => verify(PASSWORD, hash)),
  )
}
process.send(found)
process.disconnect()
