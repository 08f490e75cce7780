// A host without Passport and with its own users.
declare namespace Express {
  interface User {
    id: string
    nickname?: string
  }
  interface Request {
    user?: User
  }
}
