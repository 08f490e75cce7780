// Builds copies of this package with one fault each, and searches each copy until it finds the fault: npm run fuzz:faults
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
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

const copy = mkdtempSync(join(tmpdir(), 'faults-'))
for (const path of [
  'src',
  'dist',
  'package.json',
  'tsconfig.json',
  'test/attacks/differential',
  'test/support/plain-js',
]) {
  cpSync(join(ROOT, path), join(copy, path), { recursive: true })
}
symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))

/** Returns the output of a search in the copy with one fault. */
function search(subject, file, code, fault) {
  const path = join(copy, 'src', file)
  const text = readFileSync(path, 'utf8')
  if (text.split(code).length !== 2) throw new Error(`${file} must have this code once: ${code}`)
  writeFileSync(
    path,
    text.replace(code, () => fault),
  )
  try {
    execFileSync('node_modules/.bin/rolldown', ['-c', 'src/rolldown.config.mjs', '--logLevel', 'silent'], {
      cwd: copy,
      stdio: 'ignore',
    })
    const options = ['--first', '--subject', subject, '--cases', CASES, '--seed', '1']
    return spawnSync(process.execPath, ['test/attacks/differential/fuzz.mjs', ...options], {
      cwd: copy,
      encoding: 'utf8',
    }).stdout
  } finally {
    writeFileSync(path, text)
  }
}

let missed = 0
for (const [subject, name, ...change] of FAULTS) {
  const output = search(subject, ...change)
  const [, finding] = /^FOUND (.*)$/m.exec(output) ?? []
  const [, cases] = /^(\d+) cases/m.exec(output) ?? []
  if (!finding) missed++
  process.stdout.write(`${subject}, ${name}: ${finding ? `found in ${cases} cases: ${finding}` : 'MISSED'}\n`)
}
rmSync(copy, { recursive: true })
process.stdout.write(`${FAULTS.length - missed} of ${FAULTS.length} faults found\n`)
process.exitCode = missed === 0 ? 0 : 1
