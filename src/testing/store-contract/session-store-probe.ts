import {
  type FoundSession,
  readFound,
  readSession,
  type Session,
  type SessionChange,
  type SessionStore,
} from '../../sessions/session.js'
import { fail } from './contract-check.js'
import { booleanFrom, resultOf, shown } from './store-probe.js'

export type SessionProbe = ReturnType<typeof probeSessions>

/** The methods that read sessions, of one store object. */
interface SessionReader {
  /** The name of an option, for messages. */
  readonly option: string
  /** Returns the members that a guard reads. A store may return no `expiresAt`. */
  find(id: string): Promise<object | undefined>
  /** Returns a session as the store has it, with its `refresh`. */
  findState(id: string): Promise<FoundSession | null | undefined>
  /** Returns the sessions of an account, oldest first. */
  list(accountId: string): Promise<Session[]>
}

/** The methods whose calls in several processes exclude each other, of one store object. */
interface SessionWriter {
  remove(id: string, accountId: string): Promise<boolean>
  replace(id: string, from: string, to: SessionChange): Promise<boolean>
}

/**
 * Returns the methods of a store, each with a timeout and a check of what it returns. `readers` and `writers` are all objects on the stored
 * sessions.
 * @param otherStore another object on the same data
 */
export function probeSessions(store: SessionStore, otherStore?: SessionStore) {
  const first = reader('store', store)
  const writers: [SessionWriter, ...SessionWriter[]] = [writer(store), ...(otherStore ? [writer(otherStore)] : [])]
  return {
    ...writers[0],
    readers: otherStore ? [first, reader('otherStore', otherStore)] : [first],
    writers,
    find: first.find,
    list: first.list,
    add: (session: Session) => resultOf('add', () => store.add(session)),
    removeAll: (accountId: string, exceptId?: string) =>
      booleanFrom('removeAll', () => store.removeAll(accountId, exceptId)),
    touch: (id: string, time: Date) => resultOf('touch', () => store.touch(id, time)),
    canReplace: typeof store.replace === 'function',
    canUpdate: typeof store.update === 'function',
    update: (id: string, data: string) => booleanFrom('update', () => store.update?.(id, data)),
  }
}

const writer = (store: SessionStore): SessionWriter => ({
  remove: (id, accountId) => booleanFrom('remove', () => store.remove(id, accountId)),
  replace: (id, from, to) => booleanFrom('replace', () => store.replace?.(id, from, to)),
})

function reader(option: string, store: SessionStore): SessionReader {
  return {
    option,
    async find(id) {
      const call = `find(${shown(id)})`
      const found = readFound(call, await resultOf(call, () => store.find(id)))
      if (!found) return undefined
      const { expiresAt, data = null, ...others } = found
      return { ...others, data, ...(expiresAt && { expiresAt }) }
    },
    findState: async (id) => (await resultOf('find', () => store.find(id))) as FoundSession | null | undefined,
    async list(accountId) {
      const call = `list(${shown(accountId)})`
      const listed = await resultOf(call, () => store.list(accountId))
      if (!Array.isArray(listed)) return fail(`${call} did not return an array`, 'Return an array of sessions')
      const sessions = listed.map(
        (one) => readSession(call, one) ?? fail(`${call} returned null in its array`, 'Return only sessions'),
      )
      return sessions.sort((one, other) => one.createdAt.getTime() - other.createdAt.getTime())
    },
  }
}
