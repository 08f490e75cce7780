import type { Probe } from '../probe/probe.js'
import { challengeIn, isSuccess, mustBe, mustBeProblem } from '../probe/response.js'
import type { Rows } from '../row.js'
import { must, needed } from '../verdict.js'

/** Rows about routes that need a recent sign-in. */
export const stepUpRows: Rows = {
  'recent-accepted': {
    title: 'a path that needs a recent sign-in accepts a new token',
    source: 'RFC 9470 section 4',
    async run(probe) {
      const response = await probe.askWith(recentOf(probe), await probe.token())
      must(isSuccess(response), `a request with a new token gets ${response.status}`)
    },
  },
  'recent-refused': {
    title: 'a path that needs a recent sign-in refuses an old one with 401 and names the time',
    source: 'RFC 9470 section 3',
    async run(probe) {
      const recent = recentOf(probe)
      const oldToken = needed(probe.target.oldToken, 'set CHECK_OLD_TOKEN to a valid token of an old sign-in')
      const response = await probe.askWith(recent, oldToken)
      mustBe(401, response, 'a token of an old sign-in')
      const { error, maxAge = '' } = challengeIn(response)
      const code = 'insufficient_user_authentication'
      must(error === code, `the error code of the challenge is not ${code}`)
      must(/^\d+$/.test(maxAge), 'the challenge has no max_age in seconds')
      if (probe.wire.own) mustBeProblem(response, 'a token of an old sign-in')
    },
  },
}

const recentOf = ({ target }: Probe) => needed(target.recent, 'no --recent PATH was given')
