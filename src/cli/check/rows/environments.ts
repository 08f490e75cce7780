import { those } from '../probe/probe.js'
import { isSuccess, mustBe } from '../probe/response.js'
import type { Rows } from '../row.js'
import { mustAll } from '../verdict.js'
import { mustRefuse } from './forged.js'

/** Rows about tokens of other environments. */
export const environmentRows: Rows = {
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
