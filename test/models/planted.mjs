/**
 * The planted faults. `npm run models:faults` puts each of them into a copy of `src`, and expects that its model fails.
 *
 * @typedef {{ what: string, model: string, file: string, from: string, to: string }} Fault
 * @type {readonly Fault[]}
 */
export const FAULTS = [
  {
    what: 'removed keys verify for a moment too long while the source is down',
    model: 'remote-keys',
    file: 'tokens/keys/remote-keys.ts',
    from: 'return now >= since && now - since < span',
    to: 'return now >= since && now - since <= span',
  },
  {
    what: 'stale keys verify for longer than keepFor',
    model: 'remote-keys',
    file: 'tokens/keys/remote-keys.ts',
    from: 'isWithin(maxAge, askedAt, now) && isWithin(keepFor, heardAt, now)',
    to: 'isWithin(maxAge, askedAt, now)',
  },
  {
    what: 'a fetch that failed counts as a response of the source',
    model: 'remote-keys',
    file: 'tokens/keys/remote-keys.ts',
    from: 'failure = new Error(`remoteKeys: no keys',
    to: 'heardAt = now; failure = new Error(`remoteKeys: no keys',
  },
  {
    what: 'each request with an unknown key fetches',
    model: 'remote-keys',
    file: 'tokens/keys/remote-keys.ts',
    from: 'if (isWithin(cooldown, askedAt, now)) return failure',
    to: '',
  },
  {
    what: 'keys are used after maxAge without a fetch',
    model: 'remote-keys',
    file: 'tokens/keys/remote-keys.ts',
    from: 'isWithin(maxAge, askedAt, now) && isWithin(keepFor, heardAt, now)',
    to: 'isWithin(keepFor, heardAt, now)',
  },
  {
    what: 'the keys of an error page are used',
    model: 'remote-keys',
    file: 'tokens/keys/fetch-text.ts',
    from: 'if (response.status !== 200)',
    to: 'if (response.status >= 400)',
  },
  {
    what: 'a changed key keeps its old material',
    model: 'remote-keys',
    file: 'tokens/keys/jwk-set.ts',
    from: 'known?.alg === read.alg && known.key.equals(read.key)',
    to: 'known?.alg === read.alg',
  },
  {
    what: 'an unknown key is invalid while the source is down',
    model: 'remote-keys',
    file: 'tokens/keys/remote-keys.ts',
    from: 'throw failure && isUnknownKey(error) ? new AuthError',
    to: 'throw !failure && isUnknownKey(error) ? new AuthError',
  },
]
