import { isAuthError } from '../../errors/auth-error.js'
import { integer } from '../../options/checks.js'
import { argon2id } from '../../passwords/hashers/argon2id.js'
import { bcrypt } from '../../passwords/hashers/bcrypt.js'
import { createPasswords } from '../../passwords/passwords.js'
import { command, number, PASSWORD_AS_ARGUMENT } from '../command.js'
import { CommandError, EXIT } from '../command-error.js'
import { say } from '../io.js'
import { readNewPassword } from './password-input.js'

const options = {
  bcrypt: { help: 'use bcrypt, for systems that support only bcrypt; at most 72 bytes' },
  'min-length': {
    value: 'N',
    help: 'minimum number of characters; default 1 (OWASP ASVS 5, 6.2.1 requires 8)',
    check: number(integer(1, 1000, 'a number of characters'), 1),
  },
} as const

export const hash = command({
  name: 'hash',
  summary: "hash a password for an account's passwordHash",
  usage: ' [options] [< FILE]',
  options,
  details: `Type the password twice at the prompt, which does not show it, or send it to standard input as one line. Every character
counts, including spaces. Never pass the password as an argument.

The hash is the same kind that createPasswords() creates by default: argon2id with OWASP's parameters, in PHC string format.`,
  wordTooMany: PASSWORD_AS_ARGUMENT,
  aliases: {
    password: PASSWORD_AS_ARGUMENT,
    p: PASSWORD_AS_ARGUMENT,
    argon2id: 'argon2id is the default',
    argon2: 'argon2id is the default',
  },
  async run(values, _operand, io) {
    const least = values['min-length']
    const password = await readNewPassword(io.stdin, io.stderr)
    const length = [...password].length
    if (length < least) throw new CommandError(`The password must have at least ${least} characters, but has ${length}`)
    const passwords = createPasswords({ hashers: [values.bcrypt ? bcrypt() : argon2id()] })
    say(io, await hashed(password, passwords.hash))
    return EXIT.holds
  },
})

/** Hashes a password. bcrypt rejects some passwords with an error that the user can read. */
async function hashed(password: string, make: (password: string) => Promise<string>): Promise<string> {
  try {
    return await make(password)
  } catch (error) {
    const isRefusal = isAuthError(error) && error.code === 'weak_password'
    throw isRefusal || error instanceof TypeError ? new CommandError(error.message) : error
  }
}
