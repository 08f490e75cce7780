import { integer } from '../../options/checks.js'
import {
  ALGORITHMS,
  type Algorithm,
  algorithmHint,
  isKeyPairAlgorithm,
  PAIRS,
} from '../../tokens/algorithms/algorithms.js'
import { command, number, oneOf } from '../command.js'
import { EXIT, UsageError } from '../command-error.js'
import { type Io, isSharedFile, remark } from '../io.js'
import { type KeyFile, publicPath, writeKeyFiles } from './key-files.js'
import { type KeyText, newPair, newSecret, RSA_BITS } from './new-key.js'

const NAMES = Object.keys(ALGORITHMS) as Algorithm[]

const options = {
  alg: {
    value: 'ALG',
    help: `${NAMES.join(', ')}; default ES256`,
    check: oneOf(NAMES, algorithmHint),
  },
  format: {
    value: 'FORMAT',
    help: 'format of a key pair: pem (PKCS #8, SPKI) or jwk; default pem',
    check: oneOf(['pem', 'jwk']),
  },
  out: { value: 'FILE', help: 'file for the key; only its owner can read it (0600)' },
  public: { value: 'FILE', help: 'file for the public key; default key.pub.pem next to key.pem' },
  bits: {
    value: 'N',
    help: `size of an RSA key in bits, at least ${RSA_BITS.least}; default ${RSA_BITS.usual}`,
    check: number(integer(RSA_BITS.least, RSA_BITS.most, 'a number of bits'), undefined),
  },
} as const

export const keygen = command({
  name: 'keygen',
  summary: 'generate a key for createTokenIssuer',
  usage: ' [--alg ES256] [--format pem|jwk] --out FILE [options]',
  options,
  details: `Keep the key secret, and publish only the public key. The command never overwrites a file. If you omit --out, the key goes to
standard output, so use a pipe or a variable. The command does not write keys to a terminal, because terminals keep their
output. It does not write keys to a file that other users can access.

For HS256, HS384 and HS512, the key is a secret: text without a trailing newline, and without a public key.`,
  wordTooMany: 'Pass the algorithm as an option: --alg ES256',
  aliases: { output: 'out', o: 'out' },
  async run(values, _operand, io) {
    const { alg = 'ES256', format, public: publicFile, bits } = values
    if (!isKeyPairAlgorithm(alg)) refuseFor(alg, { format, public: publicFile, bits })
    else if (!PAIRS[alg].hasBits) refuseFor(alg, { bits })
    if (!values.out && io.stdout.isTTY) {
      throw new UsageError(
        'keygen does not write keys to a terminal, because terminals keep their output. Pass --out FILE, or use a pipe',
      )
    }
    if (!values.out && isSharedFile(io.stdout)) {
      throw new UsageError(
        'Standard output goes to a file that other users can access. Pass --out with a new file, or run chmod 600 on the file first',
      )
    }
    const key = isKeyPairAlgorithm(alg) ? newPair(alg, format ?? 'pem', bits) : newSecret(alg)
    deliver(key, values, io)
    remark(io, `${alg}, kid ${key.kid}`)
    return EXIT.holds
  },
})

function refuseFor(alg: Algorithm, options: Readonly<Record<string, unknown>>): void {
  const [given] = Object.entries(options).find(([, value]) => value !== undefined) ?? []
  if (given) throw new UsageError(`--${given} does not apply to ${alg}. Remove --${given}`)
}

function deliver(key: KeyText, places: { out: string | undefined; public: string | undefined }, io: Io): void {
  const { out, public: publicFile = out && publicPath(out) } = places
  const files: KeyFile[] = []
  if (out) files.push({ path: out, text: key.secret, mode: 0o600 })
  if (key.public && publicFile) files.push({ path: publicFile, text: key.public, mode: 0o644 })
  writeKeyFiles(files)
  for (const { path, mode } of files)
    remark(io, `${path}: ${mode === 0o600 ? 'keep this file secret' : 'safe to publish'}`)
  if (!out) io.stdout.write(key.secret)
}
