import { generateKeyPairSync } from 'node:crypto'
import { memoryStore, oldTokens } from 'express-token-endpoint'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** The same keys in all, because the algorithm is not a feature. */
const nothing = () => ({
  issuer: 'https://api.example.com',
  keys: { alg: 'ES256', privateKey },
  onEvent() {},
})

const onlyStore = () => ({ ...nothing(), store: memoryStore() })

const everything = () => ({
  ...onlyStore(),
  secret: ['a secret that signs in this bench', 'a secret that only verifies in this bench'],
  refresh: { mode: 'cookie', idle: '14d', unremembered: '1d', longest: '90d', grace: '10s' },
  extraFields: ['code'],
  beforeSignIn: () => ({ claims: { device: 'laptop' } }),
  tenant: () => 'tenant-1',
  alsoAccept: [
    oldTokens({
      keys: { alg: 'HS256', secret: 'a secret of the old code' },
      accountId: ({ id }) => id,
      until: new Date(Date.now() + 86_400_000),
    }),
  ],
})

/** The options of `createAuth` by what they switch on. The first ones are the base of the others. */
export const OPTIONS = {
  'nothing on': nothing,
  'only `store`': onlyStore,
  'everything on': everything,
}
