import type { createThrottle, ThrottleOptions } from 'express-token-endpoint'

/** The rank of a common password (0: the password in `password`), and the number of the account. */
interface Guess {
  rank: number
  account: number
  password?: string
}

type Order = (index: number, accounts: number) => Guess

interface Scenario {
  spraying: ThrottleOptions['spraying']
  accounts: number
  addresses: number
  days: number
  guesses: number
  order: Order
  overlap: number
  warmUp: number
  sample?: number
  ownLogins?: boolean
  seed?: number
}

interface Result {
  made: number
  hashed: number
  takenOver: number
  valid: { logins: number; refused: number; refusedByOthers: number }
}

export function simulate(create: typeof createThrottle, scenario: Scenario): Promise<Result>
export const mostCommon: Order
export const belowTheLimit: Order
export const rotating: Order
export const oneAfterTheOther: Order
