import { type AccountStore, createAuth, requireBearer, type TokenIssuer, tokenRouter } from 'express-token-endpoint'

// Only the compiler reads this file. The host's own object keeps its type, without a cast.

declare class User {
  _id: number
  name: string
  passwordHash: string
  greet(): string
}
interface Mapped {
  account: { id: string; passwordHash: string; scopes: string[] }
  user: User
}
interface Row {
  id: string
  passwordHash: string
  name: string
}

declare const tokens: TokenIssuer
declare const mapped: Required<AccountStore<Mapped>>
declare const rows: Required<AccountStore<Row>>
const keys = { alg: 'HS256', secret: 'x' } as const
const issuer = 'https://api.example.com'

const auth = createAuth({
  issuer,
  keys,
  accounts: mapped,
  beforeSignIn: ({ account }) => void account.greet(),
  respond: ({ account }) => ({ name: account.greet() }),
})
auth.guard({ allow: (_req, account) => account.greet() === 'x' })
declare const req: Parameters<typeof auth.userOf>[0]
auth.userOf(req).greet()
export const greeting: Promise<string> = auth.logIn({ email: '', password: '' }).then(({ account }) => account.greet())

declare class SignInBody {
  email: string
  password: string
}
declare const body: SignInBody
auth.logIn(body)
auth.logIn({ ...body, code: '123456' })
// @ts-expect-error -- a member is missing
auth.logIn({ email: '', code: '123456' })

const inline = createAuth({
  issuer,
  keys,
  accounts: (email) => ({ account: { id: email, passwordHash: null }, user: { name: 1 } }),
})
inline.logIn({ email: '', password: '' }).then(({ account }) => account.name.toFixed())
tokenRouter({ tokens, accounts: mapped, respond: ({ account }) => ({ name: account.name }) })
requireBearer({ tokens, accounts: mapped, allow: (_req, account) => account.name === 'x', optional: true })

const ofRows = createAuth({ issuer, keys, accounts: rows, beforeSignIn: ({ account }) => void account.name })
ofRows.userOf(req).name.toUpperCase()
// @ts-expect-error -- req.user has no hash
ofRows.userOf(req).passwordHash
requireBearer({ tokens, accounts: rows, allow: (_req, { name }) => name === 'x' })
// @ts-expect-error -- rows have no such member
requireBearer({ tokens, accounts: rows, allow: (_req, { admin }) => admin })

// An object with methods is not a row: only the members of an account are there.
declare const models: Required<AccountStore<User & { id: string }>>
// @ts-expect-error -- a model has a number as its id
export type NoStore = AccountStore<User>
const ofModels = createAuth({ issuer, keys, accounts: models })
ofModels.userOf(req).id.toUpperCase()
// @ts-expect-error -- the methods are not there
ofModels.userOf(req).greet()
// @ts-expect-error -- a row with a user is a row
createAuth({ issuer, keys, accounts: () => ({ id: '', passwordHash: null, user: { name: '' } }) }).userOf(req).name
// @ts-expect-error -- a user is an object
createAuth({ issuer, keys, accounts: () => ({ account: { id: '', passwordHash: null }, user: 'alice' }) })
