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
    'The cache finds a token only by its full text': [
      'req.auth is the token of the request',
      'a token that differs in one character is refused',
    ],
    "and the guard checks the token's times and key on every request": [
      'an expired token is refused',
      'the key of a cached token is checked on every request',
    ],
    'When a dependency fails or takes longer than 5 s, requests that need it are rejected with `503`': [
      'nothing passes while a function of the host fails',
      'a failure of the host is 503, not 401',
    ],
    'The same holds for cached tokens': 'a removed key verifies nothing after 10 minutes',
  },
  'test/unit/login/before-sign-in.test.ts': {
    'If it throws or takes longer than 5 s, the sign-in is refused': [
      'responds 503 with an event when the step throws %s',
      'ends a step that takes too long',
    ],
  },
  'test/unit/features/refresh/refresh.test.ts': {
    'A forged token is rejected without touching your store': 'refuses %s without a look-up',
    'works only for its own session and environment':
      'refuses a refresh token of another environment, and one with another generation',
    'Users stay signed in when several tabs refresh at the same time, and after any number of lost responses': [
      'gives several tabs at once the same refresh token',
      'forgives a response that was lost, however long ago',
    ],
    'A replaced refresh token works for 10 s': [
      'gives several tabs at once the same refresh token',
      'forgives a response that was lost, however long ago',
    ],
    'Two late refresh tokens in a row, or an older one, end the session':
      'ends the session when a refresh token comes back that was replaced twice',
    'If a thief and the owner take turns, the session ends at their second exchange that is more than 10 s apart':
      'notices a thief who takes turns with the owner',
    'A session expires after 14 days without a refresh, or 90 days after the sign-in':
      'ends after idle without a refresh, and after longest in any case',
    'Every refresh looks up the account': 'ends the session of an account that %s',
    'While your store, accounts or keys fail, a refresh returns `503`, and the refresh token stays valid': [
      'is 503 while the store fails at %s, and the refresh token stays valid',
      'gives the same successor when the store has written, and failed after that',
      'uses up nothing while accounts or keys fail, also for days',
    ],
    'A revoked session never comes back, even if a refresh runs at the same moment':
      'does not bring back a session that ends during a refresh',
    'A page on a different origin cannot refresh, sign out or sign in its visitor unless you allow that origin': [
      'is not taken from a page of %s',
      'is taken from a client %s',
    ],
    'The cookie is deleted only when its session is over': [
      'is deleted when its session is over',
      'stays when it is lost in a race, when it is not ours, and while the store is down',
    ],
    'A refreshed token does not count as a recent sign-in':
      'issues tokens with sid and auth_time, which all guards know',
  },
  'test/unit/features/sessions.test.ts': {
    'is accepted only while the session is in the store': [
      'ends one session, all others, and its own: their tokens are refused at once',
      'refuses a token without a session',
    ],
    'The same numbers limit the sign-ins that wait for `sign`, `respond` or your session store':
      'lets at most 1,024 sign-ins of one network wait for %s',
  },
  'test/unit/features/tickets.test.ts': {
    'A ticket works only for its path and method, for at most 10 minutes, and only while its session lasts': [
      'is also one for HEAD and the other way round, and one for POST is only for POST',
      'ends with the session of its token, and with its time',
      'a ticket for another path is invalid',
    ],
  },
  'test/unit/features/refresh/old-refresh-tokens.test.ts': {
    'After 100 unknown tokens in 15 minutes, a client network receives `503`':
      'of unknown texts hold for one network, and are 503',
  },
  'test/unit/features/second-factor.test.ts': {
    'Adding a factor requires a sign-in within the last 10 minutes': 'needs a recent sign-in',
  },
  'test/attacks/hosts/prototype-pollution.test.ts': {
    '`Object.prototype` does not bypass the guard': 'a forged token is not anonymous on an optional guard',
  },
  'test/unit/guard/admission.test.ts': {
    'The guard checks the expiration of every token, even from a custom verifier': 'from 1970',
  },
  'test/contract/security-promises.test.ts': {
    'The guard rejects a request with two `Authorization` headers': 'one token: no second one',
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
    'A public key in PEM, JWK, DER, OpenSSH, hex or base64 is refused as a secret':
      'another form of a key pair as a secret',
  },
  'test/attacks/hosts/failures.test.ts': {
    'If a password check does not return `true`, the login is refused': 'has not said true: 403',
    'An invalid account, or an invalid return value': '%s: 503, and then service goes on',
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
    'While that store is down, logins continue': [
      'a login is refused only by a limit, also when the store has failed',
      'no login waits for a store that is silent',
    ],
    'Guesses are limited to 10 in 15 minutes': [
      'no process checks more passwords than the limit, also while the store is down',
      'a login is refused only by a limit that is used up',
    ],
    'the limits also hold for simultaneous guesses':
      'no process checks more passwords than the limit, also while the store is down',
    'at most 1 per hashing thread of the other processes': 'passwords that all processes check',
    'each process enforces the limits on its own':
      'no process checks more passwords than the limit, also while the store is down',
  },
  'test/unit/login/log-in.test.ts': {
    'the next login waits in the queue':
      'waits in the queue while others fill a limit, and a right login is never refused because of them',
  },
  'test/attacks/logins/disconnects.test.ts': {
    'Only failed logins cause `429`': 'lock nobody out: 120 of one office',
    'A client cannot hide a wrong guess by disconnecting': [
      'hide no failed login: a wrong password counts',
      'have no more guesses checked, in whichever step they leave',
    ],
    'disconnect during 200 logins in a second': 'causes 200 look-ups in a second',
  },
  'test/unit/limits/limits.test.ts': {
    "With 10 failures in 15 minutes, it uses at most 50 of the account's 100 per hour":
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
  'test/unit/features/password-reset.test.ts': { 'A code expires after an hour': 'refuses a code after an hour' },
  'test/unit/features/sign-in-by-mail.test.ts': {
    'or after 10 minutes for a sign-in': 'works for ten minutes, also when the account has had all mails of that time',
  },
  'test/unit/mail/mailer.test.ts': {
    'An address receives at most 3 emails of one kind in that time':
      'is limited by the exact text of the address: %s (%s)',
    'a client network can request 10 per hour':
      'is limited by the network: ten in an hour, over all kinds and addresses',
  },
}
