// A host without Passport that has users of its own.
declare namespace Express {
  interface User {
    id: string
    nickname?: string
  }
  interface Request {
    user?: User
  }
}
