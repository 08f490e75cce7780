import argon2 from 'argon2'
import bcrypt from 'bcrypt'
import bcryptjs from 'bcryptjs'
import { argon2Verify } from 'hash-wasm'

/** The packages that check a password against an Argon2id hash. The hash contains its costs, so all of them do the same work. */
export const argon2Peers = [
  { name: 'argon2', verify: (password, hash) => argon2.verify(hash, password) },
  { name: 'hash-wasm', verify: (password, hash) => argon2Verify({ password, hash }) },
]

/** The packages that check a password against a bcrypt hash. */
export const bcryptPeers = [
  { name: 'bcrypt', verify: (password, hash) => bcrypt.compare(password, hash) },
  { name: 'bcryptjs', verify: (password, hash) => bcryptjs.compare(password, hash) },
]
