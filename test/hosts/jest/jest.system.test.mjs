import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { NO_HOSTS } from '../kit.js'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

it.skipIf(NO_HOSTS)("Jest runs a Nest app's tests with the helpers of this package", async () => {
  const jest = ['--experimental-vm-modules', here('../node_modules/jest/bin/jest.js')]
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...jest, '--config', here('jest.config.mjs'), '--json', '--runInBand'],
    { cwd: here('..'), env: { PATH: process.env.PATH } },
  )
  expect(JSON.parse(stdout)).toMatchObject({ success: true, numTotalTests: 11, numPassedTests: 11 })
})
