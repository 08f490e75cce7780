// The password checks of the part about logins, in a process of the measured Node: one hash, one check at a time. Sends the checks per
// second of processor time and per second of the clock by name, round by round.
import crypto from 'node:crypto'
import { verify as nodeRsVerify } from '@node-rs/argon2'
import { argon2id, bcrypt, createPasswords } from 'express-token-endpoint'
import { inRounds } from './measure/rounds.mjs'
import { OURS_CHECK, PASSWORD, WRAPPED } from './names.mjs'
import { argon2Peers, bcryptPeers } from './peers/hashers.mjs'

/** Password checks in one slice. A check with bcrypt takes a fifth of a second. */
const ARGON2_CHECKS = 10
const BCRYPT_CHECKS = 1

async function compareChecks(rounds, count, passwords, peers) {
  const hash = await passwords.hash(PASSWORD)
  const variants = [{ name: OURS_CHECK, verify: passwords.verify }, ...peers]
  for (const { name, verify } of variants) {
    if ((await verify(PASSWORD, hash)) !== true) throw new Error(`${name}: refuses the password`)
    if ((await verify('wrong horse', hash)) !== false) throw new Error(`${name}: accepts another password`)
  }
  const values = await inRounds(rounds, variants, async ({ verify }) => {
    const used = process.cpuUsage()
    const started = performance.now()
    for (let i = 0; i < count; i++) await verify(PASSWORD, hash)
    const { user, system } = process.cpuUsage(used)
    return { perCore: count / ((user + system) / 1e6), perSecond: count / ((performance.now() - started) / 1000) }
  })
  const pick = (key) =>
    Object.fromEntries(Object.entries(values).map(([name, list]) => [name, list.map((value) => value[key])]))
  return { perCore: pick('perCore'), perSecond: pick('perSecond') }
}

const [rounds] = process.argv.slice(2).map(Number)
const argon2 = await compareChecks(rounds, ARGON2_CHECKS, createPasswords(), [
  { name: WRAPPED, verify: (password, hash) => nodeRsVerify(hash, password) },
  ...(crypto.argon2 ? [{ name: 'crypto.argon2', verify: argon2id({ engine: 'node' }).verify }] : []),
  ...argon2Peers,
])
const bcrypt12 = await compareChecks(rounds, BCRYPT_CHECKS, createPasswords({ hashers: [bcrypt()] }), bcryptPeers)
process.send({ argon2, bcrypt12 })
process.disconnect()
