// Builds copies of this package with one fault each, and searches each copy until it finds the fault: npm run fuzz:faults
import { execFileSync, spawnSync } from 'node:child_process'
import { createCopy } from '../../support/plain-js/planted-faults.mjs'

/** The search ends without the fault after this number of cases. */
const CASES = 10_000

const JWS = 'tokens/jwt/compact-jws.ts'
const VERIFY = 'tokens/jwt/verify-token.ts'
const CLAIMS = 'tokens/jwt/claims.ts'
const MATERIAL = 'tokens/keys/key-material.ts'
const BODY = 'http/token-endpoint/request-body.ts'
const HEADER = 'http/guard/bearer-header.ts'

/** A row for each fault: the kind of input that shows it, its name, the file, the code, and the code of the fault. */
const FAULTS = [
  ['token', 'padded base64url', JWS, '=== part ? bytes', "=== part.replace(/=+$/, '') ? bytes"],
  ['token', 'spare bits in base64url', JWS, "bytes.toString('base64url') === part", '/^[\\w-]+$/.test(part)'],
  [
    'token',
    'the first of two alg members',
    JWS,
    "alg: own(members, 'alg')",
    `alg: /"alg" *: *"(\\w+)"/.exec(bytes)?.[1]`,
  ],
  ['token', 'a payload that is not UTF-8', JWS, '!isUtf8(payload)', 'false'],
  ['token', 'any typ', VERIFY, 'typ !== TYP', 'false'],
  ['token', 'typ in any case', VERIFY, 'typ !== TYP', 'String(typ).toLowerCase() !== TYP'],
  ['token', 'crit is ignored', VERIFY, 'if (critical)', 'if (false)'],
  ['token', 'a missing kid', VERIFY, "typeof kid === 'string' ? keys.find(kid) : undefined", "keys.find(kid ?? 'k1')"],
  ['token', 'any alg', VERIFY, 'alg !== key.alg', 'false'],
  ['token', 'no signature check', VERIFY, '!isSignedBy(compact, key)', 'false'],
  [
    'token',
    'four bytes of an HMAC',
    'tokens/jwt/signature.ts',
    'mac.length === signature.length && timingSafeEqual(mac, signature)',
    'mac.subarray(0, 4).equals(signature.subarray(0, 4))',
  ],
  ['token', 'exp as a text', CLAIMS, '!isTime(exp)', '!isTime(Number(exp))'],
  ['token', 'exp with a fraction', CLAIMS, 'Number.isInteger(value)', 'Number.isFinite(value)'],
  ['token', 'a token in the second of its end', CLAIMS, 'now >= notAfter', 'now > notAfter'],
  ['token', 'iat in the future', CLAIMS, 'Math.max(claims.iat, claims.nbf ?? 0)', '(claims.nbf ?? 0)'],
  [
    'token',
    'an issuer with a slash',
    CLAIMS,
    'claims.iss !== expected.issuer',
    "claims.iss.replace(/\\/$/, '') !== expected.issuer",
  ],
  ['token', 'a missing jti', CLAIMS, '!isText(jti) || ', ''],
  ['header', 'two headers', HEADER, " || isRepeated(req, 'authorization')", ''],
  ['header', 'a token in the query', HEADER, "req.url?.includes('?')", 'false'],
  ['key-set', 'a private key', MATERIAL, "isJwk(value) && value['d'] !== undefined", 'false'],
  ['key-set', 'a key for encryption', MATERIAL, "value['use'] !== undefined && value['use'] !== 'sig'", 'false'],
  [
    'key-set',
    'key_ops without a list',
    MATERIAL,
    "value['key_ops'] === undefined ? [operation] : value['key_ops']",
    "value['key_ops'] ?? [operation]",
  ],
  ['key-set', 'the last key of a key id', 'tokens/keys/jwk-set.ts', '!read || keys.has(read.kid)', '!read'],
  ['pem', 'RSA of 1024 bits', MATERIAL, 'MIN_RSA_BITS = 2048', 'MIN_RSA_BITS = 1024'],
  ['pem', 'any exponent', MATERIAL, 'publicExponent >= 65_537n', 'publicExponent >= 3n'],
  ['pem', 'a PEM as a secret', MATERIAL, 'if (found)', 'if (false)'],
  ['body', 'a repeated member', 'http/token-endpoint/json.ts', 'names?.has(name)', 'false'],
  ['body', 'a repeated field', BODY, 'fields.has(field)', 'false'],
  ['body', 'half of a character', 'http/token-endpoint/credentials.ts', ' || !value.isWellFormed()', ''],
  ['body', 'any charset', BODY, "charset !== 'utf-8'", 'false'],
  ['body', 'bytes that are not UTF-8', BODY, '{ fatal: true }', '{}'],
]

const copy = createCopy([
  'src',
  'dist',
  'package.json',
  'tsconfig.json',
  'test/attacks/differential',
  'test/support/plain-js',
])

/** Returns the output of a search in the copy. */
function search(subject) {
  const cwd = copy.folder
  execFileSync(process.execPath, ['src/build.mjs'], { cwd, stdio: 'ignore' })
  const options = ['--first', '--subject', subject, '--cases', CASES, '--seed', '1']
  return spawnSync(process.execPath, ['test/attacks/differential/fuzz.mjs', ...options], { cwd, encoding: 'utf8' })
    .stdout
}

let missed = 0
for (const [subject, name, file, from, to] of FAULTS) {
  const output = copy.withFault({ file, from, to }, () => search(subject))
  const [, finding] = /^FOUND (.*)$/m.exec(output) ?? []
  const [, cases] = /^(\d+) cases/m.exec(output) ?? []
  if (!finding) missed++
  process.stdout.write(`${subject}, ${name}: ${finding ? `found in ${cases} cases: ${finding}` : 'MISSED'}\n`)
}
copy.remove()
process.stdout.write(`${FAULTS.length - missed} of ${FAULTS.length} faults found\n`)
process.exitCode = missed === 0 ? 0 : 1
