import { eventually, type Fault, holdSignIns, must, mustGet, mustSignIn } from '../fault.js'
import { EMAIL, PASSWORD } from '../server.js'

/** Callers that change their mind, and apps with faults. */
export const callers: Fault[] = [
  {
    name: 'a caller that aborts while others wait',
    async run({ server, start, fails }) {
      const open = holdSignIns(server)
      const client = start()
      const controller = new AbortController()
      const aborted = fails(client.call('/x', { signal: controller.signal }), 'aborted')
      const patient = client.call('/x')
      await eventually(() => server.seen.token.length > 0)
      controller.abort()
      await aborted
      open()
      mustGet(await patient, 200)
      mustSignIn(server, 1)
    },
  },
  {
    name: 'the first caller aborts, and another calls after that',
    async run({ server, start, fails }) {
      const open = holdSignIns(server)
      const client = start()
      const controller = new AbortController()
      const aborted = fails(client.call('/x', { signal: controller.signal }), 'aborted')
      await eventually(() => server.seen.token.length > 0)
      controller.abort()
      await aborted
      const next = client.call('/x')
      open()
      mustGet(await next, 200)
      mustSignIn(server, 1)
    },
  },
  {
    name: 'a signal that is aborted already',
    async run({ server, start, fails }) {
      await fails(start().call('/x', { signal: AbortSignal.abort() }), 'aborted')
      must(server.seen.api.length === 0, 'calls the API')
    },
  },
  {
    name: 'close() while callers wait',
    needs: ['close'],
    async run({ server, start, fails }) {
      holdSignIns(server)
      const client = start()
      const waiting = fails(client.call('/x'), 'aborted')
      await eventually(() => server.seen.token.length > 0)
      client.close?.()
      await waiting
      await fails(client.call('/x'), 'aborted')
      mustSignIn(server, 1)
    },
  },
  {
    name: 'a sign-out during the sign-in',
    needs: ['signOut', 'onChange'],
    async run({ server, start, fails }) {
      const open = holdSignIns(server)
      const client = start()
      const ends: unknown[] = []
      client.onChange?.(({ expiresAt }) => ends.push(expiresAt))
      const waiting = fails(client.call('/x'), 'aborted')
      await eventually(() => server.seen.token.length > 0)
      client.signOut?.()
      await waiting
      open()
      mustGet(await client.call('/x'), 200)
      must(ends.filter((end) => end !== undefined).length === 1, 'keeps the token of a sign-in before the sign-out')
    },
  },
  ...(['signOut', 'close'] as const).map(
    (end): Fault => ({
      name: `${end}() in the moment of a call`,
      needs: [end],
      async run({ start, fails }) {
        let asked = 0
        const client = start({
          credentials() {
            asked++
            return { email: EMAIL, password: PASSWORD }
          },
        })
        const waiting = fails(client.call('/x'), 'aborted')
        client[end]?.()
        await waiting
        must(asked === 0, 'asks for credentials after the end')
      },
    }),
  ),
  {
    name: 'credentials that never arrive',
    needs: ['options'],
    async run({ server, start, fails }) {
      const client = start({ timeout: 0.05, credentials: () => new Promise(() => {}) })
      await fails(client.call('/x'), 'unreachable')
      mustSignIn(server, 0)
    },
  },
  {
    name: 'a person who takes longer than the time limit',
    needs: ['person'],
    async run({ start }) {
      const credentials = () => new Promise((resolve) => setTimeout(resolve, 100, { email: EMAIL, password: PASSWORD }))
      mustGet(await start({ timeout: 0.05, interactive: true, credentials }).call('/x'), 200)
    },
  },
  {
    name: 'a credentials callback that throws',
    async run({ server, start }) {
      let isDown = true
      const client = start({
        credentials() {
          if (isDown) throw new Error('the secret store is down')
          return { email: EMAIL, password: PASSWORD }
        },
      })
      const failure = await client.call('/x').then(String, String)
      must(failure.includes('secret store'), 'hides the error of the callback')
      isDown = false
      mustGet(await client.call('/x'), 200)
      mustSignIn(server, 1)
    },
  },
  {
    name: 'a credentials callback without a password',
    needs: ['options'],
    async run({ server, start }) {
      const client = start({ credentials: () => ({ email: EMAIL }) })
      const failure = await client.call('/x').then(String, String)
      must(failure.startsWith('TypeError'), 'sends incomplete credentials')
      mustSignIn(server, 0)
    },
  },
  {
    name: 'a program that prints the client and its errors',
    async run({ server, start, fails, mustHide }) {
      const client = start()
      await client.call('/x')
      server.revoke()
      server.always.token = (res) => res.writeHead(403).end()
      await fails(client.call('/x'), 'refused')
      mustHide()
    },
  },
  {
    name: 'a listener that throws',
    needs: ['onChange'],
    async run({ start }) {
      const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve))
      const client = start()
      client.onChange?.(() => {
        throw new Error('a fault of the app')
      })
      mustGet(await client.call('/x'), 200)
      must(String(await uncaught).includes('a fault of the app'), 'hides the error of the listener')
    },
  },
  {
    name: 'a listener that counts down',
    needs: ['onChange', 'signOut'],
    async run({ server, start }) {
      const client = start()
      const states: { expiresAt: number | undefined }[] = []
      client.onChange?.((state) => states.push(state))
      await client.call('/x')
      client.signOut?.()
      await Promise.resolve()
      const [signedIn, signedOut] = states
      const off = Math.abs((signedIn?.expiresAt ?? 0) - (server.now() + 3_600_000))
      must(off < 60_000 && states.length === 2 && signedOut?.expiresAt === undefined, 'tells no time')
      must(!JSON.stringify(states).includes([...server.tokens.keys()][0] ?? ''), 'tells the token')
    },
  },
]
