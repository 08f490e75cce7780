import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Jest's configuration of a Nest app that uses ECMAScript modules. */
export default {
  rootDir: fileURLToPath(new URL('..', import.meta.url)),
  testMatch: ['<rootDir>/jest/*.spec.mjs'],
  moduleNameMapper: {
    '^express-token-endpoint$': `${root}dist/index.js`,
    '^express-token-endpoint/testing$': `${root}dist/testing.js`,
  },
  transform: {},
}
