/**
 * Promises of docs/explanation/security.md, and the test that would fail without each of them. `promises.test.ts` fails when the page has a
 * promise about time or concurrency that is not listed, or when a listed text does not exist.
 */
export interface LinkedPromise {
  /** Words of the page that only this promise has. */
  readonly words: string
  /** The file of the test. */
  readonly test: string
  /** Texts of that file: titles of tests, or the invariants that a model checks. */
  readonly texts: readonly string[]
}

const model = (name: string) => `test/models/${name}.model.test.ts`
const NUMBERS = 'test/contract/security-promises.test.ts'

export const LINKED: readonly LinkedPromise[] = [
  {
    words: 'A guarded route runs only for a request with one token',
    test: model('cached-tokens'),
    texts: [
      'an expired token is refused',
      'a revoked token is refused',
      'a token from before tokensValidAfter is refused',
    ],
  },
  {
    words: 'or on a polluted `Object.prototype`',
    test: 'test/attacks/hosts/prototype-pollution.test.ts',
    texts: ['a forged token is not anonymous on an optional guard'],
  },
  {
    words: 'The guard checks the expiration of every token, also of a token that a custom verifier returned',
    test: NUMBERS,
    texts: ['expired tokens, also from 1970'],
  },
  {
    words: 'and again after `isRevoked` and `accounts`',
    test: model('cached-tokens'),
    texts: ['a token that expires during a check is refused'],
  },
  {
    words: 'It refuses a request with two `Authorization` headers',
    test: NUMBERS,
    texts: ['one token: no second one'],
  },
  {
    words: 'Without `onEvent`, the process warning about it',
    test: 'test/unit/shared/host/describe-error.test.ts',
    texts: ['shows the class and the line of %s, and nothing of the message'],
  },
  {
    words: 'The JSON of an `AuthError` is the problem document',
    test: 'test/unit/shared/errors.test.ts',
    texts: ['is the problem document in JSON'],
  },
  { words: 'also what was created before', test: NUMBERS, texts: ['also nothing that was created before'] },
  {
    words: 'A public key is refused as a secret in these forms',
    test: 'test/unit/tokens/keys/keys-misuse.test.ts',
    texts: ['another form of a key pair as a secret'],
  },
  {
    words: 'An invalid account is a `503`, and so is an invalid return value',
    test: NUMBERS,
    texts: ['invalid return values: of'],
  },
  {
    words: 'A password check that does not return `true` refuses the login',
    test: 'test/attacks/hosts/failures.test.ts',
    texts: ['has not said true: 403'],
  },
  {
    words: 'A connection of HTTP/2 is one connection',
    test: 'test/unit/http/guard/http2.test.ts',
    texts: ['holds 128 calls of one connection'],
  },
  {
    words: 'In HTTP/2, only the stream of the request ends',
    test: 'test/unit/http/guard/http2.test.ts',
    texts: ['ends the stream of a refused request'],
  },
  {
    words: 'when the clock is set back',
    test: 'test/unit/tokens/keys/remote-keys.test.ts',
    texts: ['not again when the clock is set back'],
  },
  {
    words: 'refuses a compressed response',
    test: 'test/unit/tokens/keys/remote-keys.test.ts',
    texts: ["'of compressed nothing, without end'"],
  },
  {
    words: 'A cached token is found only by its whole text',
    test: model('cached-tokens'),
    texts: ['req.auth is the token of the request', 'a token that differs in one character is refused'],
  },
  {
    words: 'Its times and its key are checked on every request',
    test: model('cached-tokens'),
    texts: ['an expired token is refused', 'the key of a cached token is checked on every request'],
  },
  {
    words: 'When a dependency fails or takes longer than 5 s, nothing passes',
    test: model('cached-tokens'),
    texts: ['nothing passes while a function of the host fails', 'a failure of the host is 503, not 401'],
  },
  {
    words: 'logins continue with the limits in memory',
    test: model('failed-logins'),
    texts: ['a failure of the store refuses no login', 'no login waits for a store that is silent'],
  },
  {
    words: 'Guesses are limited to 10 in 15 minutes',
    test: model('failed-logins'),
    texts: ['failures in one window of all processes', 'a login is refused only by a limit that is used up'],
  },
  {
    words: 'The limits also hold for simultaneous guesses',
    test: model('failed-logins'),
    texts: ['failures in one window of all processes', 'attempts under way in all processes'],
  },
  {
    words: 'While Redis is down, they hold in each process',
    test: model('failed-logins'),
    texts: ['no process allows more failures than the limit, also while the store is down'],
  },
  {
    words: 'another login waits in the queue',
    test: 'test/unit/accounts/login.test.ts',
    texts: ['waits in the queue while others fill a limit, and a right login is never refused because of them'],
  },
  {
    words: 'its 10 in 15 minutes are fewer than 50 in an hour',
    test: 'test/unit/accounts/throttle/throttle.test.ts',
    texts: ['do not let one address lock the owner of an account out from another'],
  },
  {
    words: 'at most 3 passwords are hashed at a time',
    test: model('login-queue'),
    texts: ['passwords hashed at a time', 'no thread is free while a login is ready'],
  },
  {
    words: 'A hash counts until it ends, also after 5 s, and for at most 60 s',
    test: model('login-queue'),
    texts: ['passwords hashed at a time', 'const LONGEST_HASH = 12 * TIMEOUT'],
  },
  {
    words: 'A look-up of an account counts until it ends or takes longer than 5 s',
    test: model('login-queue'),
    texts: ['logins that look up their account', 'those whose look-up or hash has not ended, also without a client'],
  },
  {
    words: 'Bodies are parsed in those turns',
    test: NUMBERS,
    texts: ['a body: read after the limit of its network, parsed in a turn, with few fields'],
  },
  {
    words: '8 logins continue in one turn of the event loop',
    test: model('request-queues'),
    texts: ['at most 8 requests continue in one turn'],
  },
  {
    words: 'At most 2,048 token calls wait for that',
    test: NUMBERS,
    texts: ['token calls that wait for a turn: in total, of one network, of one connection'],
  },
  {
    words: 'At most 1,024 logins wait',
    test: model('login-queue'),
    texts: ['logins that wait', 'a login ends as it must'],
  },
  {
    words: '32 for each hashing thread already look up their account',
    test: model('login-queue'),
    texts: ['logins that look up their account', 'no slot is free while a login waits'],
  },
  {
    words: 'Half of the others may come from one client network',
    test: model('login-queue'),
    texts: ['logins of one network that wait'],
  },
  {
    words: 'Networks take turns, at the queue and at the hashing threads',
    test: model('login-queue'),
    texts: ['networks take turns at the'],
  },
  {
    words: 'A login whose password check does not begin within 5 s gets `503`',
    test: model('login-queue'),
    texts: ['a password check begins within 5 s', 'a login ends as it must'],
  },
  {
    words: 'A cached token does not wait in the queue of a flood',
    test: NUMBERS,
    texts: ['tokens that wait to be verified: in a turn, in total, of one network, of one connection'],
  },
  {
    words: '8 other tokens are verified in one turn of the event loop',
    test: model('request-queues'),
    texts: ['at most 8 requests continue in one turn', 'no request overtakes those that wait'],
  },
  {
    words: 'At most 4,096 requests wait',
    test: model('request-queues'),
    texts: ['the limit of waiting requests holds'],
  },
  {
    words: 'Networks take turns, and so do connections',
    test: model('request-queues'),
    texts: ['networks take turns', 'connections of a network take turns'],
  },
  {
    words: 'Such a call counts until it ends or times out',
    test: model('request-queues'),
    texts: ['a call of the host counts until it ends, and the limits hold'],
  },
  {
    words: 'a network has no more calls than are still free',
    test: model('request-queues'),
    texts: ['a call of the host counts until it ends, and the limits hold'],
  },
  {
    words: 'each of its waiting requests gets `503` at once',
    test: model('request-queues'),
    texts: ['each waiting request of a connection above its limit gets 503'],
  },
  {
    words: 'the network with the most waiting requests gives way',
    test: 'test/unit/shared/queues/fair-queue.test.ts',
    texts: ['does what its model does, whatever is added, taken and removed'],
  },
  { words: 'Refusals are not delayed', test: NUMBERS, texts: ['an unread body after a refusal'] },
  { words: 'is drained for at most 1 s', test: NUMBERS, texts: ['an unread body after a refusal'] },
  {
    words: 'fetches only the URL that it was created with, at most once in 30 s',
    test: model('remote-keys'),
    texts: ['fetches only the URL that it was created with', 'fetches at most once in 30 s', 'shares one fetch'],
  },
  { words: 'It reads at most 102,400 bytes', test: model('remote-keys'), texts: ['reads at most 102,400 bytes'] },
  {
    words: 'at most 5,000 calls of `verify` wait for one fetch',
    test: 'test/unit/tokens/keys/remote-keys.test.ts',
    texts: ['are at most 5,000'],
  },
  {
    words: 'A key that was removed verifies nothing after 10 minutes',
    test: model('remote-keys'),
    texts: [
      'a removed key verifies nothing after 10 minutes',
      'a removed key verifies nothing after an hour while the source is down',
    ],
  },
  {
    words: 'The same holds for cached tokens',
    test: model('cached-tokens'),
    texts: ['a removed key verifies nothing after 10 minutes'],
  },
  {
    words: 'A check ends after 5 minutes',
    test: 'test/contract/command/check.test.ts',
    texts: ['ends the check after 5 minutes'],
  },
  {
    words: 'sends the password only to the token endpoint, and the token only to the origin',
    test: model('client'),
    texts: ['nothing is sent to another origin', 'the password goes to no redirect', 'no error shows a secret'],
  },
  {
    words: 'sends no request of one user with the token of another',
    test: model('client'),
    texts: ["no request carries another person's token", 'token() returns a token of the same person'],
  },
]
