import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { launch } from '../../example-app/support.js'
import { isMissing } from './missing.js'

const SCRIPT = '/usr/bin/script'

const isThere = process.platform === 'linux' && existsSync(SCRIPT)

/** True for `describe.skipIf` when this machine cannot run a program on its own terminal. */
export const NO_TERMINAL = isMissing(isThere, 'script(1) of util-linux', 'apt-get install bsdutils')

/** Runs a Node program on its own terminal. Types or calls the next reply when the output ends with a question. */
export async function onTerminal(
  program: readonly string[],
  question: RegExp,
  answers: readonly (string | ((shown: string) => void))[],
  env: Record<string, string> = {},
): Promise<{ code: number; shown: string }> {
  const line = [process.execPath, ...program].map((word) => `'${word}'`).join(' ')
  const child = launch(SCRIPT, ['--quiet', '--return', '--command', line, '/dev/null'], { TERM: 'xterm', ...env })
  const left = [...answers]
  let shown = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    shown += chunk
    if (!question.test(shown)) return
    const reply = left.shift()
    if (typeof reply === 'function') reply(shown)
    else if (reply !== undefined) child.stdin?.write(`${reply}\r`)
  })
  const [code] = (await once(child, 'close')) as [number]
  return { code, shown }
}
