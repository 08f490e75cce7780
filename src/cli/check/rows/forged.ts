import { otherSpellings, signedByOurselves, signedByPublicKey, tampered, unsigned } from '../forge.js'
import type { Probe } from '../probe/probe.js'
import { readJwt } from '../probe/read-token.js'
import { mustBe } from '../probe/responses.js'
import { must, mustAll, type Row, Unjudged } from '../verdict.js'
import { publicKeyOf } from './jwks.js'

/** Rows about forged and expired tokens. Each token is sent to every guarded path. */
export const forgedRows: readonly Row<Probe>[] = [
  {
    id: 'tampered',
    title: 'a changed token is refused with 401',
    source: 'RFC 8725 section 3.3; OWASP ASVS 5, 9.1.1',
    async run(probe) {
      const token = await probe.readToken()
      for (const [what, text] of Object.entries(tampered(token))) await mustRefuse(probe, text, `a token with ${what}`)
    },
  },
  {
    id: 'alg-none',
    title: 'a token without a signature is refused with 401',
    source: 'RFC 8725 section 3.2; OWASP ASVS 5, 9.1.2',
    async run(probe) {
      const token = await probe.readToken()
      for (const text of unsigned(token)) await mustRefuse(probe, text, 'a token with alg none')
    },
  },
  {
    id: 'own-key',
    title: 'a token signed by the key in its header is refused with 401',
    source: 'RFC 8725 section 3.10; OWASP ASVS 5, 9.1.3',
    async run(probe) {
      const token = await probe.readToken()
      for (const text of signedByOurselves(token)) await mustRefuse(probe, text, 'a token signed by another key')
    },
  },
  {
    id: 'key-confusion',
    title: 'a token signed with the public key as a secret is refused with 401',
    source: 'RFC 8725 sections 2.1 and 3.1; OWASP ASVS 5, 9.1.2',
    async run(probe) {
      const token = await probe.readToken()
      const known = await publicKeyOf(probe, token)
      if (!known) throw new Unjudged("the token's key is not in the key set")
      for (const text of signedByPublicKey(token, known.key)) {
        await mustRefuse(probe, text, 'a token signed with the public key')
      }
    },
  },
  {
    id: 'spelling',
    title: 'another base64 spelling of the token is refused with 401',
    source: 'RFC 7515 section 2; RFC 4648 section 3.5',
    async run(probe) {
      const token = await probe.readToken()
      for (const text of otherSpellings(token)) await mustRefuse(probe, text, 'another spelling of the signature')
    },
  },
  {
    id: 'expired',
    title: 'an expired token is refused with 401',
    source: 'docs/reference/http.md section 10; OWASP ASVS 5, 9.2.1',
    async run(probe) {
      const { expiredToken } = probe.target
      if (!expiredToken) throw new Unjudged('set CHECK_EXPIRED_TOKEN to an expired token')
      const { exp, iss } = readJwt(expiredToken)?.claims ?? {}
      must(Number(exp) * 1000 <= Date.now(), 'CHECK_EXPIRED_TOKEN is not an expired token')
      must(iss === (await probe.readToken()).claims['iss'], 'CHECK_EXPIRED_TOKEN is of another environment')
      await mustRefuse(probe, expiredToken, 'an expired token')
    },
  },
]

export async function mustRefuse({ closed, ask }: Probe, token: string, what: string): Promise<void> {
  await mustAll(await closed(), async (path) => mustBe(401, await ask(path, `Bearer ${token}`), what))
}
