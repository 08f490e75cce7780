import { isKeyPairAlgorithm, PAIRS } from '../../../tokens/algorithms/algorithms.js'
import { signCompact } from '../../../tokens/jwt/signature.js'
import { type Probe, those } from '../probe/probe.js'
import { isSuccess, mustBe } from '../probe/response.js'
import { type ReadToken, readJwt } from '../probe/token.js'
import type { Row, Rows } from '../row.js'
import { mustAll, Unjudged } from '../verdict.js'
import { changed, changedLetter, headerOf, otherSpellings, tampered, withSecret, zeros } from './forge.js'
import { publicKeyOf } from './jwks.js'

/** Names an empty file, or selects an empty text, when a server uses a `kid` as a path or in a query. */
const BLANK_KIDS = ['/dev/null', '../../../../../../../../dev/null', "' UNION SELECT '' -- "]

/** Rows about tokens that are forged, expired or of another environment. Each is sent to every guarded path. */
export const forgedRows: Rows = {
  tampered: {
    title: 'a changed token is refused with {refusedToken}',
    source: 'RFC 8725 section 3.3; OWASP ASVS 5, 9.1.1',
    async run(probe) {
      const text = await probe.token()
      const token = readJwt(text)
      const tokens = token ? tampered(token) : changedLetter(text)
      for (const [what, text] of Object.entries(tokens)) await mustRefuse(probe, text, `a token with ${what}`)
    },
  },
  'alg-none': {
    title: 'a token without a signature is refused with {refusedToken}',
    source: 'RFC 8725 section 3.2; OWASP ASVS 5, 9.1.2',
    run: refuses((token) => {
      const signed = ['none', 'None', 'nOnE'].map((alg) => changed(token, { alg }))
      return { 'a token with alg none': signed.flatMap((text) => [`${text}.`, `${text}.${token.signatureText}`]) }
    }),
  },
  'own-key': {
    title: 'a token signed by the key in its header is refused with {refusedToken}',
    source: 'RFC 8725 section 3.10; OWASP ASVS 5, 9.1.3',
    run: refuses((token) => {
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
    run: refuses(async (token, probe) => {
      const { key } = (await publicKeyOf(probe, token)) ?? {}
      if (!key) throw new Unjudged("the token's key is not in the key set")
      const pem = key.export({ type: 'spki', format: 'pem' }).toString()
      const der = key.export({ type: 'spki', format: 'der' })
      const secrets = [pem, pem.trimEnd(), der, JSON.stringify(key.export({ format: 'jwk' }))]
      return { 'a token signed with the public key': secrets.map((secret) => withSecret(token, secret)) }
    }),
  },
  'blank-key': {
    title: 'a token signed with an empty secret, or with a file that a kid names, is refused with {refusedToken}',
    source: 'RFC 8725 sections 2.1 and 3.10',
    run: refuses((token) => ({
      'a token signed with an empty secret': [
        withSecret(token, ''),
        ...BLANK_KIDS.map((kid) => withSecret(token, '', { kid })),
      ],
    })),
  },
  'blank-signature': {
    title: 'a signature of zeros, or of no bytes, is refused with {refusedToken}',
    source: 'RFC 7515 section 5.2; RFC 8725 section 3.2',
    run: refuses((token) => {
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
      (token, { wire }) => ({ 'another spelling of the signature': otherSpellings(token, wire.own) }),
      'This is not a forgery. It matters to a server that lists revoked tokens by their text',
    ),
  },
  expired: {
    title: 'an expired token is refused with {refusedToken}',
    source: 'docs/reference/http.md section 10; OWASP ASVS 5, 9.2.1',
    async run(probe) {
      const { expiredToken } = probe.target
      if (!expiredToken) throw new Unjudged('set CHECK_EXPIRED_TOKEN to a token of this app that has expired')
      await mustRefuse(probe, expiredToken, 'an expired token')
    },
  },
  'foreign-token': {
    title: 'a token of another environment is refused with {refusedToken}',
    source: 'docs/reference/http.md section 11; OWASP ASVS 5, 9.2.3',
    async run(probe) {
      const token = probe.target.foreignToken ?? (await probe.other()).token
      await mustRefuse(probe, token, "another environment's token")
    },
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

type Forgeries = Record<string, string | readonly string[]>

/** Creates the run of a row whose forgeries of the token must be refused. */
function refuses(forge: (token: ReadToken, probe: Probe) => Forgeries | Promise<Forgeries>, hint?: string): Row['run'] {
  return async (probe) => {
    for (const [what, tokens] of Object.entries(await forge(await probe.jwt(), probe))) {
      for (const token of [tokens].flat()) await mustRefuse(probe, token, what, hint)
    }
  }
}

async function mustRefuse(probe: Probe, token: string, what: string, hint?: string): Promise<void> {
  const { paths, askWith, wire } = probe
  await mustAll(await paths.closed(), async (path) =>
    mustBe(wire.statuses.refusedToken, await askWith(path, token), what, hint),
  )
}
