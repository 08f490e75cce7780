import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const COMMAND = fileURLToPath(new URL('../../../../example-app/dist/commands/keys.js', import.meta.url))

/** Runs `npm run keys -- …`. Returns its output. */
export async function keys(env, ...args) {
  const { stdout } = await promisify(execFile)(process.execPath, [COMMAND, ...args], {
    env: { PATH: process.env.PATH, ...env },
  })
  return stdout
}
