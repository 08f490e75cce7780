import { hash, randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { callHost, withDeadline } from '../concurrency/host-call.js'
import { createLimit, type End } from '../concurrency/limit.js'
import { AuthError, isAuthError } from '../errors/auth-error.js'
import type { Emit, EventSubject } from '../events/emitter.js'
import { createLoginLimit } from '../limits/limit.js'
import type { CodeMailKind, Mail, NoticeMail, SendMail } from './mail.js'

/** The option `defer`: keeps a serverless host awake until the promise is settled. */
export type Defer = (promise: Promise<void>) => unknown

/** The settings of the mails of an app. */
export interface MailerSettings {
  send: SendMail
  defer: Defer | undefined
  emit: Emit
  /** The time limit for a mail, in milliseconds. */
  timeout: number
}

/** A request for a mail. */
export interface MailRequest {
  kind: CodeMailKind
  /** The address, as the client sent it. */
  email: string
  tenant: string | undefined
  /** The client's network. */
  network: string
  about: EventSubject
}

export type Mailer = ReturnType<typeof createMailer>

/** Sends a mail, within the time limit. */
export type Deliver = (mail: Mail) => Promise<void>

/** The windows of the limits, in seconds. A sign-in has the window of its codes, so that a client at its limit has a code that works. */
const WINDOWS: Readonly<Record<CodeMailKind, number>> = {
  'sign-up': 3600,
  'password-reset': 3600,
  'new-address': 3600,
  'sign-in': 600,
}
/** The lifetime of a code, in milliseconds: at least as long as the window. */
export const lifetimeOf = (kind: CodeMailKind) => WINDOWS[kind] * 1000

/** The mails of one kind to one address, and to one account, in a window. */
const PER_ADDRESS = 3
/** The requests for mails of one network in an hour. */
const PER_NETWORK = 10

/** The work that waits or runs, of requests and of notices. A client cannot take the places of notices from others. */
const REQUESTED = { total: 1000, perNetwork: 100 }
const NOTICES = { total: 1000, perNetwork: 20 }

/** The time after which a mail that is still being sent does not count any more, in milliseconds. */
const FORGOTTEN_MS = 60_000

/** The longest delay before the work of a request begins, in milliseconds. */
const LATEST_START = 1000

const keyOf = (...parts: readonly unknown[]) => hash('sha256', JSON.stringify(parts), 'base64url')

/** Creates the mails of an app: their limits, their queues, and the work after the response. */
export function createMailer({ send, defer, emit, timeout }: MailerSettings) {
  const limitOf = (duration: number, points: number) => createLoginLimit('account', { points, duration })
  const ofAddress = Object.fromEntries(
    Object.entries(WINDOWS).map(([kind, window]) => [kind, limitOf(window, PER_ADDRESS)]),
  ) as Record<CodeMailKind, ReturnType<typeof limitOf>>
  const ofNetwork = limitOf(3600, PER_NETWORK)
  const daily = limitOf(86_400, 1)
  const [beginRequest, beginNotice] = [createLimit(REQUESTED), createLimit(NOTICES)]
  /** Keeps blocked logins, which have no limit, from filling the queue of requests. */
  const beginReminder = createLimit(REQUESTED)
  /** The addresses whose account is looked up for a reminder. */
  const reminding = new Set<string>()

  /** Counts a mail. Returns the refusal when the limit is reached. */
  function count(limit: ReturnType<typeof limitOf>, key: string): AuthError | undefined {
    const reached = limit.reached(key)
    if (!reached) void limit.fail(key, () => {})
    return reached
  }

  function failed(about: EventSubject, error: unknown): void {
    const refusal = isAuthError(error) ? error : new AuthError('unavailable', { cause: error })
    const { dependency, option, accountId, cause } = refusal
    // A refusal without a dependency is the limit of codes: their owner has codes that work.
    if (isAuthError(error) && !dependency) return
    emit(about, {
      type: 'dependency.failed',
      dependency: dependency ?? 'internal',
      ...(option && { option }),
      ...(accountId !== undefined && { accountId }),
      refused: false,
      error: cause,
    })
  }

  /**
   * Runs work after the response, and reports its failure. It counts while the host sends a mail, because a mailer that hangs must not
   * fill the memory.
   */
  function later(about: EventSubject, end: End, work: (deliver: Deliver) => Promise<void>): void {
    let sending: Promise<unknown> | undefined
    async function deliver(mail: Mail): Promise<void> {
      const sent = (async () => void (await send(mail)))()
      sending = sent
      await callHost('hook', () => sent, { timeout, about: { option: 'mail' } })
    }
    const done = work(deliver).catch((error) => failed(about, error))
    void done.then(() => withDeadline(FORGOTTEN_MS, sending)).then(end, end)
    const keepAwake = async () => defer?.(done)
    void callHost('hook', keepAwake, { about: { option: 'defer' } }).catch((error) => failed(about, error))
  }

  return {
    /**
     * Accepts a request for a mail, known address or not. The work begins after the response, at a random time, so that the time of the
     * client's next request does not tell who has an account.
     * @throws AuthError `too_many_attempts`, or `overloaded` when too much work waits
     */
    accept({ kind, email, tenant, network, about }: MailRequest, work: (deliver: Deliver) => Promise<void>): void {
      const address = keyOf(kind, tenant, email)
      const reached = ofNetwork.reached(keyOf(network)) ?? ofAddress[kind].reached(address)
      if (reached) {
        const retryAfter = Number(reached.headers['Retry-After'])
        throw new AuthError('too_many_attempts', { retryAfter, message: 'Too many emails. Try again later.' })
      }
      const end = beginRequest(network)
      if (!end) throw new AuthError('overloaded')
      count(ofNetwork, keyOf(network))
      count(ofAddress[kind], address)
      later(about, end, async (deliver) => {
        await wait(randomInt(LATEST_START))
        await work(deliver)
      })
    },
    /** Counts a mail to an account, because its address may have several spellings. Returns whether it may be sent. */
    mayMail: (kind: CodeMailKind, tenant: string | undefined, accountId: string) =>
      count(ofAddress[kind], keyOf(kind, tenant, accountId, 'id')) === undefined,
    /**
     * Reminds the owner of an account that its limit is used up, at most once a day. The look-up begins after the response.
     * @param find returns the account of the address
     */
    remind(
      { email, tenant, network, about }: Omit<MailRequest, 'kind'>,
      find: () => Promise<{ id: string; email?: string | null | undefined } | undefined>,
    ): void {
      const ofText = keyOf('blocked', tenant, email)
      if (reminding.has(ofText) || daily.reached(ofText)) return
      const end = beginReminder(network)
      if (!end) return
      reminding.add(ofText)
      later({ ...about }, end, async (deliver) => {
        await wait(randomInt(LATEST_START))
        const found = await find().finally(() => reminding.delete(ofText))
        count(daily, ofText)
        if (!found?.email || count(daily, keyOf('blocked', tenant, found.id, 'id'))) return
        await deliver({ kind: 'sign-in-blocked', to: found.email, details: {}, tenant })
      })
    },
    /** Sends a notice after the response. It has no limit, because a thief could use it up, but each account has its own places. */
    notify(mail: NoticeMail, accountId: string, about: EventSubject): void {
      const end = beginNotice(accountId)
      if (!end) {
        const error = new Error(`The notice ${mail.kind} was not sent, because too many mails wait.`)
        emit(about, { type: 'dependency.failed', dependency: 'hook', option: 'mail', refused: false, error })
        return
      }
      later(about, end, (deliver) => deliver(mail))
    },
  }
}
