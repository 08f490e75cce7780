import { callHost } from '../concurrency/host-call.js'
import { isScopeList } from '../options/checks.js'
import { isPlainObject, own, parseJson } from '../options/values.js'
import { apiKeyId, newApiKey } from './api-key.js'
import { type FactorStore, type StoredFactor, unlikeStored } from './factor-store.js'

/** An API key of an account. */
export interface ApiKey {
  readonly id: string
  readonly accountId: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly createdAt: Date
  readonly expiresAt: Date
  /** The hour of the last use. */
  readonly lastUsedAt: Date | null
}

interface ApiKeysSettings {
  store: FactorStore
  issuer: string
  timeout: number
  now(): number
}

/** The kind of an API key in the store. */
export const API_KEY = 'api-key'

/** The most keys of an account. */
const MOST = 20
const HOUR = 3_600_000

export type ApiKeys = ReturnType<typeof createApiKeys>

/** @throws TypeError for a factor that this file has not written. The store is wrong, not the client */
function readKey({ id, accountId, expiresAt, data }: StoredFactor): ApiKey {
  const read = parseJson(data)
  const [name, scopes, made, used] = isPlainObject(read)
    ? ['name', 'scopes', 'createdAt', 'lastUsedAt'].map((member) => own(read, member))
    : []
  if (typeof name !== 'string' || !isScopeList(scopes) || typeof made !== 'number' || !expiresAt)
    throw unlikeStored('a different API key than "add"')
  const lastUsedAt = typeof used === 'number' ? new Date(used) : null
  return { id, accountId, name, scopes, createdAt: new Date(made), expiresAt, lastUsedAt }
}

/** Creates the API keys of an app. */
export function createApiKeys({ store, issuer, timeout, now }: ApiKeysSettings) {
  const call = <T>(run: () => Promise<T>): Promise<T> => callHost('factors', run, { timeout })
  const isLive = ({ kind, expiresAt }: StoredFactor) => kind === API_KEY && Number(expiresAt) > now()

  /** The keys whose use is being noted, so that a store that hangs gets one call for each. */
  const noted = new Set<string>()

  /** Notes the hour of a use. A failure to note it is ignored. */
  function noteUse({ id, data }: StoredFactor, { lastUsedAt }: ApiKey): void {
    const hour = Math.floor(now() / HOUR) * HOUR
    if (noted.has(id) || (lastUsedAt && lastUsedAt.getTime() >= hour)) return
    const used = JSON.stringify({ ...(parseJson(data) as object), lastUsedAt: hour })
    noted.add(id)
    const note = async () => store.replace(id, data, used)
    void note()
      .catch(() => {})
      .finally(() => noted.delete(id))
  }

  return {
    /** Returns a new key, which is kept nowhere, and its id. Undefined when the account has too many. */
    async create(
      accountId: string,
      { name, scopes, lifetime }: { name: string; scopes: readonly string[]; lifetime: number },
    ) {
      const key = newApiKey()
      const id = apiKeyId(issuer, key)
      const data = JSON.stringify({ name, scopes, createdAt: now(), lastUsedAt: null })
      const factor = { id, accountId, kind: API_KEY, expiresAt: new Date(now() + lifetime), data }
      const isStored = await call(async () => store.add(factor, MOST, new Date(now())))
      return isStored === true ? { key, id } : undefined
    },
    /** Returns the keys of an account, newest first. */
    list: (accountId: string): Promise<ApiKey[]> =>
      call(async () => {
        const found = await store.list(accountId)
        const keys = found.filter((one) => one.accountId === accountId && isLive(one)).map(readKey)
        return keys.sort((one, other) => +other.createdAt - +one.createdAt)
      }),
    /** Removes a key of an account. Returns false for one that the account does not have. */
    remove: (accountId: string, id: string): Promise<boolean> =>
      call(async () => {
        const found = await store.find(id)
        return found?.kind === API_KEY && found.accountId === accountId && (await store.remove(id, accountId)) === true
      }),
    /** Removes all keys of an account. */
    removeAll: async (accountId: string): Promise<void> =>
      void (await call(async () => store.removeAll(accountId, [API_KEY]))),
    /** Returns the key of a text that has the form of one, and notes its use. */
    find: (text: string): Promise<ApiKey | undefined> =>
      call(async () => {
        const id = apiKeyId(issuer, text)
        const found = await store.find(id)
        if (!found || found.id !== id || !isLive(found)) return undefined
        const key = readKey(found)
        noteUse(found, key)
        return key
      }),
  }
}
