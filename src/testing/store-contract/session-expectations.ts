import { isDeepStrictEqual } from 'node:util'
import type { Session } from '../../sessions/session.js'
import { fail } from './contract-check.js'
import type { SessionProbe } from './session-store-probe.js'

/** The advice for an ended session that is still found. */
const END_FOR_ALL =
  'Finish the deletion before the method returns, cache no sessions in find and list, and read from the primary database'

/** Names the method, and the option of a second store object. */
const nameOf = (method: string, option: string) => (option === 'store' ? method : `${method} of "${option}"`)

const idsOf = (sessions: readonly Session[]) => sessions.map(({ id }) => id)

/** Expects that an account has exactly these sessions, given oldest first. */
export async function expectListed(
  { readers }: SessionProbe,
  accountId: string,
  sessions: readonly Session[],
  when: string,
): Promise<void> {
  for (const { option, list } of readers) {
    const listed = idsOf(await list(accountId))
    if (isDeepStrictEqual(listed, idsOf(sessions))) continue
    const counts =
      listed.length === sessions.length
        ? `other sessions than the ${sessions.length} of the account`
        : `${listed.length} sessions of the account instead of ${sessions.length}`
    fail(
      `${nameOf('list', option)} returned ${counts}, ${when}`,
      'Compare account ids exactly, in each method, and cache no sessions',
    )
  }
}

/** Expects that `find` returns nothing. */
export async function expectGone({ readers }: SessionProbe, { id }: Session, when: string, advice = END_FOR_ALL) {
  for (const { option, find } of readers) {
    if (await find(id)) fail(`${nameOf('find', option)} returned the session ${when}`, advice)
  }
}

/** Expects that `find` returns a session. */
export async function expectThere({ readers }: SessionProbe, { id }: Session, when: string, advice: string) {
  for (const { option, find } of readers) {
    if (!(await find(id))) fail(`${nameOf('find', option)} returned no session ${when}`, advice)
  }
}

const STORE_ALL = 'Store each member as it is: dates with milliseconds, null as null, and texts with all letters'

/** Compares what `find` and `list` return of a session with the session. */
export async function expectSame(
  store: SessionProbe,
  session: Session,
  when: string,
  advice = STORE_ALL,
): Promise<void> {
  await expectThere(store, session, when, 'Store the session before add returns, and pass errors of the database on')
  for (const { option, find, list } of store.readers) {
    const results = {
      find: await find(session.id),
      list: (await list(session.accountId)).find(({ id }) => id === session.id),
    }
    for (const [method, result] of Object.entries(results)) {
      const name = nameOf(method, option)
      if (!result) return fail(`${name} returned no session ${when}`, 'Return all sessions of the account')
      const wrong = Object.entries(result)
        .filter(([member, value]) => !isDeepStrictEqual(value, session[member as keyof Session]))
        .map(([member]) => member)
      if (wrong.length > 0) fail(`${name} returned another ${wrong.join(', ')} than the stored one, ${when}`, advice)
    }
  }
}
