import argon2 from 'argon2'
import bcrypt from 'bcrypt'
import bcryptjs from 'bcryptjs'

/** Other packages that check a password against a hash. The hash contains its costs, so all of them do the same work. */
export const hashers = {
  argon2id: [{ name: 'argon2', verify: (password, hash) => argon2.verify(hash, password) }],
  bcrypt: [
    { name: 'bcrypt', verify: (password, hash) => bcrypt.compare(password, hash) },
    { name: 'bcryptjs', verify: (password, hash) => bcryptjs.compare(password, hash) },
  ],
}
