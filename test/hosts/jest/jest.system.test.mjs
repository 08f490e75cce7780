import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { root } from '../../support/documents/repository.js'
import { NO_HOSTS } from '../kit.js'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

/** Jest's configuration of a Nest app that uses ECMAScript modules. */
const CONFIG = JSON.stringify({
  rootDir: here('..'),
  testMatch: ['<rootDir>/jest/*.spec.mjs'],
  moduleNameMapper: {
    '^express-token-endpoint$': `${root}dist/index.js`,
    '^express-token-endpoint/testing$': `${root}dist/testing.js`,
  },
  transform: {},
})

it.skipIf(NO_HOSTS)("Jest runs a Nest app's tests with the helpers of this package", async () => {
  const jest = ['--experimental-vm-modules', here('../node_modules/jest/bin/jest.js')]
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...jest, '--config', CONFIG, '--json', '--runInBand'],
    { cwd: here('..'), env: { PATH: process.env.PATH } },
  )
  expect(JSON.parse(stdout)).toMatchObject({ success: true, numTotalTests: 14, numPassedTests: 14 })
})
