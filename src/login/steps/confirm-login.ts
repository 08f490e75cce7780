import type { Account } from '../../accounts/account.js'
import { callHost } from '../../waiting/host-call.js'
import { leaveSlot, waitForSlot } from './check-password.js'
import { createConfirmation } from './confirmation.js'
import { NOT_CHECKED } from './login-attempt.js'
import type { LoginTask } from './login-task.js'
import { lookUpAccount } from './look-up-account.js'

/** The confirmation keeps the hashes and the password to itself, so that nothing that a host prints or sends has them. */
export function confirmationOf(
  task: LoginTask,
  { id, passwordHash }: Account,
  asOf: Date,
  replacement: string | undefined,
) {
  const known = new Set([passwordHash, replacement ?? passwordHash])
  return createConfirmation({
    id,
    asOf,
    // By the address, because guards call `findById` on every request and a host may cache it.
    lookUp: () => lookUpAccount(task),
    isKnown: (hash) => known.has(hash) || verifyLater(task, hash),
    replaced: replacement === undefined ? undefined : (passwordHash ?? undefined),
  })
}

/** Verifies a hash that was stored meanwhile. Another login may have stored a new hash of the same password. */
async function verifyLater(task: LoginTask, hash: string | null): Promise<boolean> {
  const slot = await waitForSlot(task)
  try {
    return await callHost('passwords', () => slot.verify(task.password, hash), { passThrough: NOT_CHECKED })
  } finally {
    leaveSlot(slot)
  }
}
