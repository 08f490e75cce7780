import type { Probe } from '../probe/probe.js'
import { isSuccess, mustBe } from '../probe/responses.js'
import type { Guarded } from '../target.js'
import { mustAll, type Row, Unjudged } from '../verdict.js'
import { orOf } from '../wire/wire.js'
import { mustRefuse } from './forged.js'

/** Rows about tokens of other environments. */
export const environmentRows: readonly Row<Probe>[] = [
  {
    id: 'foreign-token',
    title: ({ statuses }) => `a token of another environment is refused with ${orOf(statuses.refusedToken)}`,
    source: 'docs/reference/http.md section 11; OWASP ASVS 5, 9.2.3',
    async run(probe) {
      const token = probe.target.foreignToken ?? (await probe.other()).token
      await mustRefuse(probe, token, "another environment's token")
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
