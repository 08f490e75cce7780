import { argon2id, bcrypt } from '../../accounts/passwords/hashers.js'
import { createPasswords } from '../../accounts/passwords/passwords.js'
import { integer } from '../../shared/options.js'
import { checked, command, PASSWORD_AS_ARGUMENT } from '../command.js'
import { EXIT, Failure } from '../failure.js'
import { say } from '../io.js'
import { readNewPassword } from './password-input.js'

export const hash = command({
  name: 'hash',
  summary: "hashes a password, for an account's passwordHash",
  usage: ' [options] [< FILE]',
  options: {
    bcrypt: { type: 'boolean', help: 'bcrypt, for systems that know nothing else; at most 72 bytes' },
    'min-length': {
      type: 'string',
      value: 'N',
      help: 'refuses a password of fewer characters (OWASP ASVS 5, 6.2.1: 8)',
    },
  },
  details: `The password is asked for twice, without echo; or it is standard input, without one end of line at its end.
Everything else of it counts, spaces too. It is never an argument.

The hash is what createPasswords() makes: argon2id with OWASP's parameters, in PHC string format.`,
  wordTooMany: PASSWORD_AS_ARGUMENT,
  mistakes: {
    password: PASSWORD_AS_ARGUMENT,
    p: PASSWORD_AS_ARGUMENT,
    argon2id: 'It is what is made without options',
    argon2: 'It is what is made without options',
  },
  async run(values, _operand, io) {
    const least = checked('--min-length', integer(1, 1000, 'a number of characters'), Number(values['min-length'] ?? 1))
    const password = await readNewPassword(io.stdin, io.stderr)
    const length = [...password].length
    if (length < least) throw new Failure(`A password has ${least} characters at least, but this one has ${length}`)
    const passwords = createPasswords({ hashers: [values.bcrypt ? bcrypt() : argon2id()] })
    say(io, await hashed(password, passwords.hash))
    return EXIT.holds
  },
})

/** bcrypt does not take every password, and says so. */
async function hashed(password: string, make: (password: string) => Promise<string>): Promise<string> {
  try {
    return await make(password)
  } catch (error) {
    throw error instanceof RangeError || error instanceof TypeError ? new Failure(error.message) : error
  }
}
