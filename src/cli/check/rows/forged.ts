import { isKeyPairAlgorithm, PAIRS } from '../../../tokens/algorithms/algorithms.js'
import { signCompact } from '../../../tokens/jwt/signature.js'
import { type Probe, those } from '../probe/probe.js'
import { isSuccess, mustBe } from '../probe/response.js'
import { readJwt } from '../probe/token.js'
import type { Row, Rows } from '../row.js'
import { mustAll, needed } from '../verdict.js'
import { changed, changedLetter, headerOf, otherSpellings, tampered, withSecret, zeros } from './forge.js'
import { publicKeyOf } from './jwks.js'

/** Names an empty file, or selects an empty text, when a server uses a `kid` as a path or in a query. */
const BLANK_KIDS = ['/dev/null', '../../../../../../../../dev/null', "' UNION SELECT '' -- "]

/** Rows about tokens that are forged, expired or of another environment. Each is sent to every guarded path. */
export const forgedRows: Rows = {
  tampered: {
    title: 'a changed token is refused with {refusedToken}',
    source: 'RFC 8725 section 3.3; OWASP ASVS 5, 9.1.1',
    run: refuses(async ({ token }) => {
      const text = await token()
      const jwt = readJwt(text)
      const variants = Object.entries(jwt ? tampered(jwt) : changedLetter(text))
      return Object.fromEntries(variants.map(([what, variant]) => [`a token with ${what}`, variant]))
    }),
  },
  'alg-none': {
    title: 'a token without a signature is refused with {refusedToken}',
    source: 'RFC 8725 section 3.2; OWASP ASVS 5, 9.1.2',
    run: refuses(async ({ jwt }) => {
      const token = await jwt()
      const signed = ['none', 'None', 'nOnE'].map((alg) => changed(token, { alg }))
      return { 'a token with alg none': signed.flatMap((text) => [`${text}.`, `${text}.${token.signatureText}`]) }
    }),
  },
  'own-key': {
    title: 'a token signed by the key in its header is refused with {refusedToken}',
    source: 'RFC 8725 section 3.10; OWASP ASVS 5, 9.1.3',
    run: refuses(async ({ jwt }) => {
      const token = await jwt()
      const alg = isKeyPairAlgorithm(token.alg) ? token.alg : 'ES256'
      const { privateKey, publicKey } = PAIRS[alg].generate(2048)
      const jwk = publicKey.export({ format: 'jwk' })
      const headers = [{ jwk }, { jwk, kid: undefined }, {}].map((more) => ({ ...headerOf(token), ...more, alg }))
      const tokens = headers.map((header) => signCompact(header, token.claims, privateKey))
      return { 'a token signed by another key': tokens }
    }),
  },
  'key-confusion': {
    title: 'a token signed with the public key as a secret is refused with {refusedToken}',
    source: 'RFC 8725 sections 2.1 and 3.1; OWASP ASVS 5, 9.1.2',
    run: refuses(async (probe) => {
      const token = await probe.jwt()
      const { key } = needed(await publicKeyOf(probe, token), "the token's key is not in the key set")
      const pem = key.export({ type: 'spki', format: 'pem' }).toString()
      const der = key.export({ type: 'spki', format: 'der' })
      const secrets = [pem, pem.trimEnd(), der, JSON.stringify(key.export({ format: 'jwk' }))]
      return { 'a token signed with the public key': secrets.map((secret) => withSecret(token, secret)) }
    }),
  },
  'blank-key': {
    title: 'a token signed with an empty secret, or with a file that a kid names, is refused with {refusedToken}',
    source: 'RFC 8725 sections 2.1 and 3.10',
    run: refuses(async ({ jwt }) => {
      const token = await jwt()
      const headers = [{}, ...BLANK_KIDS.map((kid) => ({ kid }))]
      return { 'a token signed with an empty secret': headers.map((header) => withSecret(token, '', header)) }
    }),
  },
  'blank-signature': {
    title: 'a signature of zeros, or of no bytes, is refused with {refusedToken}',
    source: 'RFC 7515 section 5.2; RFC 8725 section 3.2',
    run: refuses(async ({ jwt }) => {
      const token = await jwt()
      const signed = changed(token, {}, { sub: 'somebody-else' })
      return {
        'a token with a signature of zeros': `${signed}.${zeros(token.signature.length)}`,
        // CVE-2022-21449: R and S are zero.
        'a token with an ES256 signature of zeros': `${changed(token, { alg: 'ES256' })}.${zeros(64)}`,
        'a token without its signature': `${signed}.`,
        'a token of two parts': signed,
      }
    }),
  },
  spelling: {
    title: 'another base64 spelling of the token is refused with {refusedToken}',
    source: 'RFC 7515 section 2; RFC 4648 section 3.5',
    run: refuses(
      async ({ jwt, wire }) => ({ 'another spelling of the signature': otherSpellings(await jwt(), wire.own) }),
      'This is not a forgery. It matters to a server that lists revoked tokens by their text',
    ),
  },
  expired: {
    title: 'an expired token is refused with {refusedToken}',
    source: 'docs/reference/http.md section 10; OWASP ASVS 5, 9.2.1',
    run: refuses(async ({ target: { expiredToken } }) => ({
      'an expired token': needed(expiredToken, 'set CHECK_EXPIRED_TOKEN to a token of this app that has expired'),
    })),
  },
  'foreign-token': {
    title: 'a token of another environment is refused with {refusedToken}',
    source: 'docs/reference/http.md section 11; OWASP ASVS 5, 9.2.3',
    run: refuses(async ({ target, other }) => ({
      "another environment's token": target.foreignToken ?? (await other()).token,
    })),
  },
  'token-abroad': {
    title: 'another environment refuses the token with {refusedToken}',
    source: 'docs/reference/http.md section 11; OWASP ASVS 5, 9.2.3',
    async run({ other, token, askWith, wire }) {
      const there = await other()
      const text = await token()
      // A path that refuses the token from there proves nothing.
      const opened = await those(
        there.guarded,
        async (path) => isSuccess(await askWith(path, there.token)),
        'of the other environment accepts its own token',
      )
      await mustAll(opened, async (path) =>
        mustBe(wire.statuses.refusedToken, await askWith(path, text), 'there, the token of this environment'),
      )
    },
  },
}

/** Creates the run of a row whose forgeries must be refused. Each has a name, or a list has one. */
function refuses(
  forge: (probe: Probe) => Promise<Readonly<Record<string, string | readonly string[]>>>,
  hint?: string,
): Row['run'] {
  return async (probe) => {
    const { paths, askWith, wire } = probe
    for (const [what, tokens] of Object.entries(await forge(probe))) {
      for (const token of [tokens].flat()) {
        await mustAll(await paths.closed(), async (path) =>
          mustBe(wire.statuses.refusedToken, await askWith(path, token), what, hint),
        )
      }
    }
  }
}
