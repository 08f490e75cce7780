import type { Probe } from '../probe/probe.js'
import { challengeIn, isSuccess, mustBe, mustBeProblem } from '../probe/responses.js'
import { must, type Row, Unjudged } from '../verdict.js'

/** Rows about routes that need a recent sign-in. */
export const stepUpRows: readonly Row<Probe>[] = [
  {
    id: 'recent-accepted',
    title: 'a path that needs a recent sign-in accepts a new token',
    source: 'RFC 9470 section 4',
    async run(probe) {
      const { target, askWith, token } = probe
      if (!target.recent) throw new Unjudged('no --recent PATH was given')
      const { status } = await askWith(target.recent, await token())
      must(isSuccess({ status }), `a request with a new token gets ${status}`)
    },
  },
  {
    id: 'recent-refused',
    title: 'a path that needs a recent sign-in refuses an old one with 401 and names the time',
    source: 'RFC 9470 section 3',
    async run({ target, askWith, wire }) {
      const { recent, oldToken } = target
      if (!recent) throw new Unjudged('no --recent PATH was given')
      if (!oldToken) throw new Unjudged('set CHECK_OLD_TOKEN to a valid token of an old sign-in')
      const response = await askWith(recent, oldToken)
      mustBe(401, response, 'a token of an old sign-in')
      const { error, maxAge } = challengeIn(response)
      must(
        error === 'insufficient_user_authentication',
        'the error code of the challenge is not insufficient_user_authentication',
      )
      must(maxAge !== undefined && /^\d+$/.test(maxAge), 'the challenge has no max_age in seconds')
      if (wire.own) mustBeProblem(response, 'a token of an old sign-in')
    },
  },
]
