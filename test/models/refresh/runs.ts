import type { SessionStore } from 'express-token-endpoint'
import { type Device, type Network, send, serve } from './devices.js'
import { type Kit, start } from './kit.js'
import type { Settings } from './servers.js'

const SECOND = 1000
const MINUTE = 60 * SECOND

/** The calls of stores in all runs. */
export const counted = { steps: 0 }

const GAPS = [
  [6, 10 * MINUTE],
  [4, 1],
  [4, 300],
  [3, 3 * SECOND],
  [3, 12 * SECOND],
  [3, 45 * SECOND],
  [2, 40 * MINUTE],
  [1, 59 * MINUTE],
  [1, 70 * MINUTE],
] as const

const COMMANDS: readonly (readonly [number, (kit: Kit, device: Device) => unknown])[] = [
  [60, (kit, device) => send(kit, device, { retries: kit.choices.below(4) })],
  [
    40,
    (kit, device) => {
      for (let tabs = 2 + kit.choices.below(2); tabs > 0; tabs--)
        kit.time.after(kit.choices.below(60), () => send(kit, device, { retries: kit.choices.below(3) }))
    },
  ],
  [
    6,
    (kit, device) => {
      send(kit, device)
      kit.time.after(kit.choices.below(100), () => send(kit, device, { burst: 14 }))
    },
  ],
  [
    6,
    (kit, device) => {
      const { accountId } = device
      send(kit, device)
      for (let logins = 1 + kit.choices.below(6); logins > 0; logins--)
        kit.time.after(kit.choices.below(60), () => void kit.rehash(accountId))
    },
  ],
  [4, (kit, device) => void kit.use(device)],
  [3, (kit, device) => void kit.update(device)],
  [
    3,
    (kit, device) => {
      send(kit, device)
      kit.time.after(kit.choices.below(200), () => void kit.update(device))
    },
  ],
  [1, (kit, device) => void kit.signOut(device)],
  [1, (kit, device) => void kit.changePassword(device, false)],
  [3, (kit, device) => void kit.changePassword(device, true)],
  [2, (kit, device) => void changeTwice(kit, device)],
  [
    2,
    (kit, device) => {
      void kit.changePassword(device, true)
      kit.time.after(3 * SECOND, async () => {
        // The session that was kept must end with its password, also when the store fails to remove it.
        kit.servers.setDown(true)
        await kit.changePassword(device, false)
        kit.servers.setDown(false)
      })
    },
  ],
  [
    1,
    (kit, { accountId }) => {
      const account = kit.servers.accounts.get(accountId)
      if (!account) return
      kit.servers.accounts.set(accountId, { ...account, disabled: true })
      for (const facts of kit.factsOf(accountId)) {
        facts.mayEnd = true
        facts.overAt = Math.min(facts.overAt, kit.time.now())
      }
    },
  ],
  [4, (kit) => kit.servers.crash(kit.servers.anyServer())],
  [4, (kit) => kit.servers.setDown(!kit.servers.isDown())],
  [4, (kit) => kit.servers.silence()],
  [4, (kit) => kit.servers.lock()],
  [
    3,
    (kit, device) => {
      send(kit, device)
      kit.time.after(kit.choices.below(60), () => {
        kit.servers.slow()
        send(kit, device)
      })
    },
  ],
  [4, (kit, device) => kit.rollBack(device)],
  [6, (kit) => kit.servers.deploySecrets()],
  [4, (kit, device) => kit.forge(device)],
]

/** Changes the password in a session, then elsewhere, and refreshes the session for the first time after both. */
async function changeTwice(kit: Kit, device: Device): Promise<void> {
  await kit.changePassword(device, true)
  kit.storePassword(device)
  send(kit, device)
}

/** Runs devices, hosts and faults with the decisions of a list. Returns the broken promises. */
export async function honestRun(
  numbers: readonly number[],
  settings: Settings,
  network: Network,
  store: Required<SessionStore>,
): Promise<string[]> {
  const kit = start(numbers, settings, network, store)
  const { choices, time, servers, law, devices } = kit
  try {
    await kit.signIn('cookie', 'acc-1')
    while (!choices.isUsedUp() && law.broken.length === 0) {
      await time.pass(choices.weigh(GAPS))
      let device = devices[choices.below(devices.length)] as Device
      if (device.token === undefined || law.of(device.sessionId).mayEnd) {
        // A session that may end is followed for a while, then the user signs in again.
        if (choices.isOneOf(device.token === undefined ? 900 : 200)) {
          devices.splice(devices.indexOf(device), 1)
          device = await kit.signIn(choices.pick(['cookie', 'body']), kit.working(device.accountId))
        }
      } else if (devices.length < 3 && choices.isOneOf(50)) {
        device = await kit.signIn(choices.pick(['body', 'cookie']), kit.working(choices.pick(['acc-1', 'acc-2'])))
      }
      choices.weigh(COMMANDS)(kit, device)
      await time.settle()
    }
    await time.pass(2 * MINUTE)
  } finally {
    time.end()
  }
  counted.steps += servers.steps()
  return law.broken
}

/** The owner of a session and a thief, who has copied the owner's refresh token. */
export async function thiefRun(
  numbers: readonly number[],
  settings: Settings,
  network: Network,
  store: Required<SessionStore>,
): Promise<string[]> {
  // A store that fails postpones the end of the session.
  const { choices, time, servers, law, signIn, ...kit } = start(numbers, { ...settings, faults: 0 }, network, store)
  const sim = { choices, time, servers, law, ...kit }
  const owner = await signIn('body', 'acc-1', choices.pick(['this', 'earlier']))
  const { sessionId } = owner
  const tokens: Record<string, string | undefined> = { owner: owner.token }
  const facts = law.of(sessionId)
  /** The one who was granted last since the first exchange that was further apart than `grace`. */
  let last: string | undefined
  let turns = 0
  let isFar = false

  async function turn(party: string): Promise<void> {
    const text = tokens[party]
    if (text === undefined) return
    const presented = Number(text.split('.')[1])
    const replacedAt = facts.replacedAt[presented]
    const by = facts.movedBy[presented]
    const distance = replacedAt === undefined || by === party ? undefined : time.now() - replacedAt
    // Its response was lost, so that the other one was forgiven with the same refresh token.
    const isAgain = presented === facts.forgiven
    const isCaught =
      distance !== undefined &&
      distance > settings.grace + settings.skew &&
      facts.generation > presented + 1 &&
      !isAgain
    if (distance !== undefined) isFar = distance > settings.grace + settings.skew
    // Both get the same refresh token, as if it had been copied now.
    if (isAgain && by !== party) isFar = false
    if (!isFar) turns = 0
    const isStrict = settings.grace === 0 && presented < facts.generation
    const outcome = await serve(sim, servers.anyServer(), text, party, () => true)
    law.must(!(isStrict && outcome !== 403), 'without grace, a replaced refresh token ends the session')
    law.must(!(isCaught && outcome !== 403), 'a thief who polls is caught by the next refresh of the owner')
    if (typeof outcome === 'object') {
      if (isFar && (last !== party || turns === 0)) turns++
      last = party
      law.must(turns <= 1, 'after an exchange further apart than grace, only one of the two gets anything more')
      // A thief may also keep a refresh token that will be forgiven again.
      if (!choices.isOneOf(party === 'thief' ? 200 : network.lost)) tokens[party] = outcome.token
    } else if (outcome === 403) {
      const hasExpired = time.now() >= facts.staysUntil - settings.skew
      law.must(facts.isRemoved || hasExpired, 'a refused refresh token has ended its session')
      tokens[party] = undefined
    }
  }

  try {
    while (!choices.isUsedUp() && law.broken.length === 0 && Object.values(tokens).some(Boolean)) {
      // Longer than a refresh takes, because two at once are an exchange within `grace`.
      await time.pass(Math.max(6 * SECOND, choices.weigh(GAPS)))
      if (facts.mayEnd || choices.isOneOf(100)) {
        // The thief may also copy a newer one.
        if (!facts.mayEnd || choices.isOneOf(50)) {
          tokens['thief'] = tokens['owner']
          isFar = false
          turns = 0
        }
        facts.mayEnd = true
      }
      void turn(choices.pick(['owner', 'thief']))
    }
    await time.pass(MINUTE)
  } finally {
    time.end()
  }
  counted.steps += servers.steps()
  return law.broken
}
