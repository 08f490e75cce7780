// A host without Passport's types, whose users are its accounts: what the guide to guards says to declare.
import type { Account } from 'express-token-endpoint'

declare global {
  namespace Express {
    interface User extends Omit<Account, 'passwordHash'> {}
    interface Request {
      user?: User | undefined
    }
  }
}
