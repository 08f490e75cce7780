import type { Probe } from '../probe/probe.js'
import { readJwt } from '../probe/read-token.js'
import { isSuccess, mustBe } from '../probe/responses.js'
import type { Guarded } from '../target.js'
import { must, mustAll, type Row, Unjudged } from '../verdict.js'
import { orOf } from '../wire/wire.js'
import { mustRefuse } from './forged.js'

/** Rows about tokens of other environments. */
export const environmentRows: readonly Row<Probe>[] = [
  {
    id: 'foreign-token',
    title: ({ statuses }) => `a token of another environment is refused with ${orOf(statuses.refusedToken)}`,
    source: 'docs/reference/http.md section 11; OWASP ASVS 5, 9.2.3',
    async run(probe) {
      await mustRefuse(probe, await foreignToken(probe), "another environment's token")
    },
  },
  {
    id: 'token-abroad',
    title: ({ statuses }) => `another environment refuses the token with ${orOf(statuses.refusedToken)}`,
    source: 'docs/reference/http.md section 11; OWASP ASVS 5, 9.2.3',
    async run(probe) {
      const other = await probe.other()
      const text = await probe.token()
      await mustAll(await openedThere(probe, other), async (path) => {
        mustBe(
          probe.wire.statuses.refusedToken,
          await probe.askWith(path, text),
          'there, the token of this environment',
        )
      })
    },
  },
]

async function foreignToken({ target, other, wire }: Probe): Promise<string> {
  if (!target.foreignToken) return (await other()).token
  const token = readJwt(target.foreignToken)
  // Another API may have opaque tokens, whose expiration is not visible.
  if (!token && !wire.own) return target.foreignToken
  must(token, 'CHECK_FOREIGN_TOKEN is not a JWT')
  const expired = Number(token.claims['exp']) * 1000 <= Date.now()
  must(!expired, 'CHECK_FOREIGN_TOKEN has expired. Pass a token that is still valid')
  return target.foreignToken
}

/** Returns the paths there that accept a token from there. Other paths prove nothing. */
async function openedThere(
  { askWith }: Probe,
  other: { guarded: readonly Guarded[]; token: string },
): Promise<Guarded[]> {
  const opened: Guarded[] = []
  for (const path of other.guarded) if (isSuccess(await askWith(path, other.token))) opened.push(path)
  if (opened.length === 0) throw new Unjudged('no guarded path of the other environment accepts its own token')
  return opened
}
