/**
 * Promises of docs/explanation/security.md and test/performance/under-attack.md, and the test that would fail without each of them. A test's
 * file has the words of its promises, which the pages have once. A promise has texts of the file: titles of tests, or the invariants of a model. `promises.test.ts` fails when the
 * page has a promise about time or concurrency that is not listed, or when a listed text does not exist.
 */
export const LINKED: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>> = {
  'test/models/cached-tokens.model.test.ts': {
    'A guarded route runs only if the request carries exactly one valid token': [
      'an expired token is refused',
      'a revoked token is refused',
      'a token from before tokensValidAfter is refused',
    ],
    'and again after `isRevoked` and `accounts`': 'a token that expires during a check is refused',
    'The token cache compares whole tokens': [
      'req.auth is the token of the request',
      'a token that differs in one character is refused',
    ],
    "and the guard checks a cached token's times and key on every request": [
      'an expired token is refused',
      'the key of a cached token is checked on every request',
    ],
    'When a dependency, such as your account store, fails or takes longer than 5 s, requests that need it return `503`':
      ['nothing passes while a function of the host fails', 'a failure of the host is 503, not 401'],
    'The same holds for cached tokens': 'a removed key verifies nothing after 10 minutes',
  },
  'test/unit/login/before-sign-in.test.ts': {
    'If `beforeSignIn` throws or takes longer than 5 s, the sign-in is refused': [
      'responds 503 with an event when the step throws %s',
      'ends a step that takes too long',
    ],
  },
  'test/unit/features/refresh/refresh.test.ts': {
    'The router rejects forged tokens without reading your store': 'refuses %s without a look-up',
    'works only for its own session and environment':
      'refuses a refresh token of another environment, and one with another generation',
    'Users stay signed in when several tabs refresh at the same time, and after any number of lost responses': [
      'gives several tabs at once the same refresh token',
      'forgives a response that was lost, however long ago',
    ],
    'A replaced refresh token keeps working for 10 s': [
      'gives several tabs at once the same refresh token',
      'forgives a response that was lost, however long ago',
    ],
    'A session ends if clients send, in a row, two different tokens that were replaced more than 10 s ago, or one such token that was replaced twice':
      'ends the session when a refresh token comes back that was replaced twice',
    'the session ends the second time that they refresh more than 10 s apart':
      'notices a thief who takes turns with the owner',
    'A session expires after 14 days without a refresh, or 90 days after the sign-in':
      'ends after idle without a refresh, and after longest in any case',
    'Every refresh looks up the account': 'ends the session of an account that %s',
    'If your store, account store or signing key fails, a refresh returns `503`, and the refresh token stays valid': [
      'is 503 while the store fails at %s, and the refresh token stays valid',
      'gives the same successor when the store has written, and failed after that',
      'uses up nothing while accounts or keys fail, also for days',
    ],
    'A simultaneous refresh cannot restore a revoked session':
      'does not bring back a session that ends during a refresh',
    "A page on a different origin cannot refresh its visitor's session, or sign the visitor in or out, unless you allow that origin":
      ['is not taken from a page of %s', 'is taken from a client %s'],
  },
  'test/unit/features/sessions.test.ts': {
    'Guards accept a token only while its session is in the store': [
      'ends one session, all others, and its own: their tokens are refused at once',
      'refuses a token without a session',
    ],
    'The same numbers limit the sign-ins that wait for `sign`, `respond` or your session store':
      'lets at most 1,024 sign-ins of one network wait for %s',
  },
  'test/unit/features/tickets.test.ts': {
    'works only for its path and method, for at most 10 minutes, and only while its session is active': [
      'is also one for HEAD and the other way round, and one for POST is only for POST',
      'ends with the session of its token, and with its time',
      'a ticket for another path is invalid',
    ],
  },
  'test/unit/features/refresh/old-refresh-tokens.test.ts': {
    '100 unknown tokens in 15 minutes receives `503`': 'of unknown texts hold for one network, and are 503',
  },
  'test/unit/features/second-factor.test.ts': {
    'Adding a factor requires a sign-in within the last 10 minutes': 'needs a recent sign-in',
  },
  'test/unit/guard/admission.test.ts': {
    "The guard checks every token's expiration, even with a custom verifier": 'from 1970',
  },
  'test/contract/security-promises.test.ts': {
    'The guard rejects requests with two `Authorization` headers': 'one token: no second one',
    'Bodies are parsed in those turns':
      'a body: read after the limit of its network, parsed in a turn, with few fields',
    'At most 2,048 token calls wait for that':
      'token calls that wait for a turn: in total, of one network, of one connection',
    'A cached token does not wait in the queue of a flood':
      'tokens that wait to be verified: in a turn, in total, of one network',
    'Refusals are not delayed': 'an unread body after a refusal',
    'is drained for at most 10 s': 'an unread body after a refusal',
    'are drained for at most 1 s': 'an unread body after a refusal',
  },
  'test/unit/events/describe-error.test.ts': {
    'Without `onEvent`, the process warning about an error':
      'shows the class and the line of %s, and nothing of the message',
  },
  'test/unit/tokens/keys/keys-misuse.test.ts': {
    'The package refuses public keys as secrets': 'another form of a key pair as a secret',
  },
  'test/attacks/hosts/failures.test.ts': {
    'A login succeeds only if the password check returns `true`': 'has not said true: 403',
    'returns an invalid value, the response is `503`': '%s: 503, and then service goes on',
  },
  'test/unit/guard/http2.test.ts': {
    'In HTTP/2, only the stream of the request ends': 'ends the stream of a refused request',
  },
  'test/unit/tokens/keys/remote-keys.test.ts': {
    'at most 1,000 calls of `verify` wait for one fetch': 'are at most 1,000',
    'when the clock is set back': 'not again when the clock is set back, and then as long after',
    'refuses a compressed response': "'of compressed nothing, without end'",
  },
  'test/models/failed-logins.model.test.ts': {
    'While the shared store is down, logins continue': [
      'a login is refused only by a limit, also when the store has failed',
      'no login waits for a store that is silent',
    ],
    'All networks together can make 100 guesses per hour for an account':
      'no process checks more passwords than the limit, also while the store is down',
    'can make 10 guesses per account in 15 minutes': [
      'no process checks more passwords than the limit, also while the store is down',
      'a login is refused only by a limit that is used up',
    ],
    'the limits also hold for simultaneous guesses':
      'no process checks more passwords than the limit, also while the store is down',
    'at most 1 per hashing thread in the other processes': 'passwords that all processes check',
    'each process enforces the limits on its own':
      'no process checks more passwords than the limit, also while the store is down',
  },
  'test/attacks/logins/disconnects.test.ts': {
    'Only failed logins can block further logins with `429`': 'lock nobody out: 120 of one office',
    'A client cannot hide a wrong guess by disconnecting': [
      'hide no failed login: a wrong password counts',
      'have no more guesses checked, in whichever step they leave',
    ],
    'disconnect during 200 logins in a second': 'causes 200 look-ups in a second',
  },
  'test/unit/limits/limits.test.ts': {
    'A single client network cannot lock a user out everywhere':
      'do not let one address lock the owner of an account out from another',
  },
  'test/models/login-queue.model.test.ts': {
    'at most 3 passwords are hashed at a time': [
      'passwords hashed at a time',
      'no thread is free while a login is ready',
    ],
    'A hash counts until it ends, also after 5 s, and for at most 60 s': [
      'passwords hashed at a time',
      'const LONGEST_HASH = 12 * TIMEOUT',
    ],
    'A look-up of an account counts until it ends or takes longer than 5 s': [
      'logins that look up their account',
      'those whose look-up or hash has not ended, also without a client',
    ],
    'At most 1,024 logins wait': ['logins that wait', 'a login ends as it must'],
    '32 for each hashing thread already look up their account': [
      'logins that look up their account',
      'no slot is free while a login waits',
    ],
    'Half of the others may come from one client network': 'logins of one network that wait',
    'Networks take turns, at the queue and at the hashing threads': 'networks take turns at the',
    'A login whose password check does not begin within 5 s gets `503`': [
      'a password check begins within 5 s',
      'a login ends as it must',
    ],
  },
  'test/models/queue.model.test.ts': {
    '8 logins continue in one turn of the event loop': 'at most 8 requests continue in one turn',
    '8 other tokens are verified in one turn of the event loop': [
      'at most 8 requests continue in one turn',
      'no request overtakes those that wait',
    ],
    'At most 4,096 requests wait': 'the limit of waiting requests holds',
    'Networks take turns.': 'networks take turns',
    'Such a call counts until it ends or times out': 'a call of the host counts until it ends, and the limits hold',
    'a network has no more calls than are still free': 'a call of the host counts until it ends, and the limits hold',
  },
  'test/unit/concurrency/fair-queue.test.ts': {
    'the network with the most waiting requests gives way':
      'does what its model does, whatever is added, taken and removed',
  },
  'test/models/remote-keys.model.test.ts': {
    'fetches only the URL that it was created with, at most once in 30 s': [
      'fetches only the URL that it was created with',
      'fetches at most once in 30 s',
      'shares one fetch',
    ],
    'fetches only the URL that the last valid metadata names':
      'fetches only the URL that it was created with, or that the metadata names',
    'It reads at most 102,400 bytes': 'reads at most 102,400 bytes',
    'A key that was removed verifies nothing after 10 minutes': [
      'a removed key verifies nothing after 10 minutes',
      'a removed key verifies nothing after an hour while the source is down',
    ],
  },
  'test/models/client.model.test.ts': {
    'sends the password only to the token endpoint, and the token only to the origin': [
      'nothing is sent to another origin',
      'the password goes to no redirect',
      'no error shows a secret',
    ],
    "never sends one user's request with a different user's token": [
      "no request carries another person's token",
      'token() returns a token of the same person',
    ],
  },
  'test/unit/features/password-reset.test.ts': { 'and any other code after an hour': 'refuses a code after an hour' },
  'test/unit/features/sign-in-by-mail.test.ts': {
    'sign-in code expires after 10 minutes':
      'works for ten minutes, also when the account has had all mails of that time',
  },
  'test/unit/mail/mailer.test.ts': {
    'An address receives at most 3 emails of the same kind before the first code expires':
      'is limited by the exact text of the address: %s (%s)',
    'A client network can request 10 emails per hour':
      'is limited by the network: ten in an hour, over all kinds and addresses',
  },
}
