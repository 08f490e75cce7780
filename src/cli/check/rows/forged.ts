import {
  blankKey,
  blankSignatures,
  changedLetter,
  otherSpellings,
  signedByOurselves,
  signedByPublicKey,
  tampered,
  unsigned,
} from '../forge.js'
import type { Probe } from '../probe/probe.js'
import { type ReadToken, readJwt } from '../probe/read-token.js'
import { mustBe } from '../probe/responses.js'
import { mustAll, type Row, Unjudged } from '../verdict.js'
import { orOf, type Wire } from '../wire/wire.js'
import { publicKeyOf } from './jwks.js'

/** Rows about forged and expired tokens. Each token is sent to every guarded path. */
export const forgedRows: readonly Row<Probe>[] = [
  {
    id: 'tampered',
    title: refused('a changed token is refused'),
    source: 'RFC 8725 section 3.3; OWASP ASVS 5, 9.1.1',
    async run(probe) {
      const text = await probe.token()
      const token = readJwt(text)
      const changed = token ? tampered(token) : changedLetter(text)
      for (const [what, text] of Object.entries(changed)) await mustRefuse(probe, text, `a token with ${what}`)
    },
  },
  {
    id: 'alg-none',
    title: refused('a token without a signature is refused'),
    source: 'RFC 8725 section 3.2; OWASP ASVS 5, 9.1.2',
    run: refuses((token) => ({ 'a token with alg none': unsigned(token) })),
  },
  {
    id: 'own-key',
    title: refused('a token signed by the key in its header is refused'),
    source: 'RFC 8725 section 3.10; OWASP ASVS 5, 9.1.3',
    run: refuses((token) => ({ 'a token signed by another key': signedByOurselves(token) })),
  },
  {
    id: 'key-confusion',
    title: refused('a token signed with the public key as a secret is refused'),
    source: 'RFC 8725 sections 2.1 and 3.1; OWASP ASVS 5, 9.1.2',
    run: refuses(async (token, probe) => {
      const known = await publicKeyOf(probe, token)
      if (!known) throw new Unjudged("the token's key is not in the key set")
      return { 'a token signed with the public key': signedByPublicKey(token, known.key) }
    }),
  },
  {
    id: 'blank-key',
    title: refused('a token signed with an empty secret, or with a file that a kid names, is refused'),
    source: 'RFC 8725 sections 2.1 and 3.10',
    run: refuses((token) => ({ 'a token signed with an empty secret': blankKey(token) })),
  },
  {
    id: 'blank-signature',
    title: refused('a signature of zeros, or of no bytes, is refused'),
    source: 'RFC 7515 section 5.2; RFC 8725 section 3.2',
    run: refuses(blankSignatures),
  },
  {
    id: 'spelling',
    title: refused('another base64 spelling of the token is refused'),
    source: 'RFC 7515 section 2; RFC 4648 section 3.5',
    run: refuses(
      (token, { wire }) => ({ 'another spelling of the signature': otherSpellings(token, wire.own) }),
      'This is not a forgery. It matters to a server that lists revoked tokens by their text',
    ),
  },
  {
    id: 'expired',
    title: refused('an expired token is refused'),
    source: 'docs/reference/http.md section 10; OWASP ASVS 5, 9.2.1',
    async run(probe) {
      const { expiredToken } = probe.target
      if (!expiredToken) throw new Unjudged('set CHECK_EXPIRED_TOKEN to a token of this app that has expired')
      await mustRefuse(probe, expiredToken, 'an expired token')
    },
  },
]

type Forgeries = Record<string, string | readonly string[]>

/** Creates the run of a row whose forgeries of the token must be refused. */
function refuses(forge: (token: ReadToken, probe: Probe) => Forgeries | Promise<Forgeries>, hint?: string) {
  return async (probe: Probe) => {
    for (const [what, tokens] of Object.entries(await forge(await probe.readToken(), probe))) {
      for (const token of [tokens].flat()) await mustRefuse(probe, token, what, hint)
    }
  }
}

function refused(what: string) {
  return ({ statuses }: Wire) => `${what} with ${orOf(statuses.refusedToken)}`
}

export async function mustRefuse(
  { closed, askWith, wire }: Probe,
  token: string,
  what: string,
  hint = '',
): Promise<void> {
  await mustAll(await closed(), async (path) => {
    mustBe(wire.statuses.refusedToken, await askWith(path, token), what, hint)
  })
}
