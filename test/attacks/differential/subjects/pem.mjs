// Public keys and secrets as text, each with a token that the key has signed. The text is the same for all.
import { createPublicKey, createSecretKey } from 'node:crypto'
import fc from 'fast-check'
import { importPKCS8, importSPKI, importX509 } from 'jose'
import { byteString, editedBy, pick, toBytes } from '../bytes.mjs'
import { classes } from '../compare.mjs'
import { KID, PAIRS } from '../keys.mjs'
import { fastJwt, jose, jsonwebtoken, ours } from '../peers.mjs'
import { tokenSignedBy } from './token.mjs'

const SIGNERS = {
  ES256: 'ES256',
  ES384: 'ES384',
  RS256: 'RS256',
  'RSA of 1024 bits': 'RS256',
  'RSA with exponent 3': 'RS256',
  'RSA-PSS': 'PS256',
  secp256k1: 'ES256',
}
/** The tokens of the key pairs. A secret signs its own token. */
const TOKENS = Object.fromEntries(
  Object.entries(SIGNERS).map(([name, alg]) => [name, tokenSignedBy(alg, PAIRS[name].privateKey)]),
)

const tokenOf = (signer, text) =>
  signer === 'secret' ? tokenSignedBy('HS256', createSecretKey(Buffer.from(text))) : TOKENS[signer]

/** Imports a key as jose does: a function for each kind of PEM. */
function importKey(text, alg) {
  if (alg === 'HS256') return new TextEncoder().encode(text)
  if (text.includes('PRIVATE KEY')) return importPKCS8(text, alg)
  return text.includes('CERTIFICATE') ? importX509(text, alg) : importSPKI(text, alg)
}

const peersOf = (alg, text, token) => ({
  jose: async () => (await jose(alg, await importKey(text, alg))(token)).sub,
  jsonwebtoken: async () => (await jsonwebtoken(alg, text)(token)).sub,
  'fast-jwt': async () => fastJwt(alg, text)(token).sub,
})

async function askOurs(alg, text, token) {
  const keys = { alg, kid: KID, [alg === 'HS256' ? 'secret' : 'publicKey']: text }
  return (await ours(keys, { cache: false }).verify(token)).accountId
}

/**
 * Returns whether a text holds a PEM, a JWK of a key pair, also within other text. A text in UTF-16 has a NUL after each
 * letter.
 */
const isKey = (text) => /-----BEGIN|LS0tLS1CRUdJTi|\bkty\\*["']?\s*:\s*\\*["'](?!oct)/.test(text.replaceAll('\0', ''))

/** Reads base64, without the characters that do not belong to it. */
const decoded = (text) => Buffer.from(text, 'base64').toString()

const isRepeated = (bytes, size) => bytes.subarray(size).equals(bytes.subarray(0, -size))

/** The strict form of a public key (RFC 7468 section 3). */
const STRICT = /^-----BEGIN PUBLIC KEY-----\n([\w+/]{64}\n)*[\w+/]{1,64}={0,2}\n-----END PUBLIC KEY-----\n$/

/** Returns the key that Node reads from a text, if any. */
function readByNode(text) {
  try {
    return createPublicKey(text)
  } catch {
    return undefined
  }
}

const curveOf = (key) => key.asymmetricKeyDetails.namedCurve
const SIGNERS_REFUSED = ['RSA of 1024 bits', 'RSA with exponent 3', 'RSA-PSS', 'secp256k1']

/** Returns whether a text has a key for another curve than that of the signer. Of two keys in a text, Node reads the first that is whole. */
function hasOtherCurve(signer, text) {
  const key = signer === 'secret' ? undefined : readByNode(text)
  return key !== undefined && curveOf(key) !== curveOf(PAIRS[signer].publicKey)
}

const stricter = classes({
  'a private key as a public key': [
    'A verifier must not hold a key that signs.',
    'RFC 7517 section 9.2',
    ({ signer, text }) => signer !== 'secret' && text.includes('PRIVATE KEY-----'),
  ],
  'a weak key or a key for another curve': [
    'RSA has fewer than 2048 bits or an exponent below 65,537, or the algorithm needs a different curve or kind of RSA key.',
    'RFC 7518 sections 3.3 and 3.4',
    ({ signer, text }) => SIGNERS_REFUSED.includes(signer) || hasOtherCurve(signer, text),
  ],
  'a PEM that Node cannot read': [
    'A boundary is not on its own line, or the key contains a backslash, a rare space or a second boundary. jose removes them and reads the rest.',
    'RFC 7468 section 3',
    ({ signer, text }) => signer !== 'secret' && !readByNode(text),
  ],
  'a short secret': [
    'The secret has fewer than 32 bytes.',
    'RFC 7518 section 3.2',
    ({ signer, text }) => signer === 'secret' && Buffer.byteLength(text) < 32,
  ],
  'a secret that repeats one character': [
    'The secret is as easy to guess as 1 to 4 bytes.',
    'RFC 8725 section 3.5',
    ({ signer, text }) => signer === 'secret' && [1, 2, 3, 4].some((size) => isRepeated(Buffer.from(text), size)),
  ],
  'a key as a secret': [
    'The secret is a PEM or a JWK, so it may be public, and its owner could sign.',
    'RFC 8725 section 2.1',
    ({ signer, text }) => signer === 'secret' && [text, decoded(text)].some(isKey),
  ],
})

const lenient = [
  {
    name: 'a PEM in another form',
    reason: 'The PEM has text around it, other line ends, or the form PKCS #1. Node reads the same key from it.',
    reference: 'RFC 7468 section 2',
    peers: ['jose', 'fast-jwt'],
    holds: ({ signer, text }) => signer !== 'secret' && !STRICT.test(text),
  },
]

const DICTIONARY = [
  ...['-----BEGIN PUBLIC KEY-----', '-----END PUBLIC KEY-----', '\n', '\r\n', '\\n', ' ', '\t', '\0', '=', '-'],
  ...['\xff', 'A', 'PRIVATE', 'RSA ', 'X-Header: y\n\n'],
]
const LAYOUTS = {
  plain: (pem) => pem,
  'with carriage returns': (pem) => pem.replaceAll('\n', '\r\n'),
  'without line ends': (pem) => pem.replaceAll('\n', ''),
  'on one line': (pem) => pem.replace(/(?<=[^-])\n(?=[^-])/g, ''),
  'with the text of line ends': (pem) => pem.replaceAll('\n', '\\n'),
  indented: (pem) => pem.replace(/^/gm, '  '),
  'after a text': (pem) => `This is a key.\n${pem}`,
  'before a text': (pem) => `${pem}This was a key.\n`,
  twice: (pem) => pem + pem,
  'with another label': (pem) => pem.replaceAll('PUBLIC KEY', 'RSA PUBLIC KEY'),
  'with a header': (pem) => pem.replace('\n', '\nX-Header: y\n\n'),
  'in base64': (pem) => Buffer.from(pem).toString('base64'),
}

/** The texts of a pair: SPKI, the private key, for RSA PKCS #1, and the key of a stranger after it. */
function textsOf(name) {
  const { publicKey, publicPem, pem } = PAIRS[name]
  const pkcs1 = publicKey.asymmetricKeyType === 'rsa' ? [publicKey.export({ type: 'pkcs1', format: 'pem' })] : []
  return [
    ...Array(6).fill(publicPem),
    pem,
    ...pkcs1,
    publicPem + PAIRS.stranger.publicPem,
    PAIRS.stranger.publicPem + publicPem,
  ]
}

const ofSigner = (name) => {
  const layout = pick(...Array(8).fill('plain'), ...Object.keys(LAYOUTS))
  const pem = fc.tuple(pick(...textsOf(name)), layout).map(([text, form]) => LAYOUTS[form](text))
  return fc.record({ signer: fc.constant(name), text: editedBy(pem, DICTIONARY) })
}

const SECRETS = [
  ...['', 's', 's'.repeat(31), 's'.repeat(32), 's'.repeat(64), '{"kty":"RSA"}'.padEnd(40)],
  ...['{"kty":"oct","k":"AAAAAAAAAAAAAAAAAAAAAAAA"}', '{"keys":[]}'.padEnd(32), PAIRS.ES256.publicPem, PAIRS.RS256.pem],
  Buffer.from(PAIRS.ES256.publicPem).toString('base64'),
]
const secret = fc.record({
  signer: fc.constant('secret'),
  text: fc.oneof(editedBy(pick(...SECRETS), DICTIONARY), byteString(80)),
})

export default {
  name: 'pem',
  title: 'PEM texts and secrets',
  fixed: ['signer'],
  cases: fc.oneof(...Object.keys(SIGNERS).map(ofSigner), secret),
  stricter,
  lenient,
  isRefusal: (error) => error instanceof TypeError || error.code === 'invalid_token',
  run({ signer, text: bytes }) {
    const alg = SIGNERS[signer] ?? 'HS256'
    const text = toBytes(bytes).toString()
    const token = tokenOf(signer, text)
    return {
      input: { signer, alg, text },
      ours: () => askOurs(alg, text, token),
      peers: peersOf(alg, text, token),
    }
  },
}
