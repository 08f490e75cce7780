import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { type Block, readPage } from '../../../support/documents/pages.js'
import { isMissing } from '../../../support/services/missing.js'

const hasShell = !['bash', 'curl'].some((program) => spawnSync(program, ['--version']).error)

/** True for `describe.skipIf` when the commands of the pages cannot run here. */
export const NO_SHELL = isMissing(hasShell, 'bash or curl', 'apt-get install bash curl')

/** Waits until a server listens at the port. */
const WAIT = (port: number) =>
  `node -e 'const { connect } = require("net"); const go = () => connect(${port}, "127.0.0.1").on("connect", () => process.exit()).on("error", () => setTimeout(go, 50)); go()'`

/** Writes a page's file, or runs its commands. A server continues in the background. */
function step({ language, code }: Block, port: number): string {
  const [, file] = /^\/\/ ([\w./-]+)\n/.exec(code) ?? []
  if (language === 'js') return `cat > ${file} <<'END_OF_FILE'\n${code}END_OF_FILE\n`
  if (!/^(.+ )?node (--env-file=\S+ )?\w+\.mjs( &)?$/m.test(code)) return code
  return `${code.trimEnd().replace(/ &$/, '')} &\n${WAIT(port)}\n`
}

/**
 * Follows a page as a reader does: saves its files and runs its commands, in their order, in one shell.
 * @param port takes the place of 3000
 * @param until the last block, by a piece of its text
 * @returns the output of all commands
 */
export async function follow(page: string, folder: string, tarball: string, port: number, until?: string) {
  const all = readPage(page).blocks.filter(({ language }) => language === 'js' || language === 'sh')
  const blocks = until === undefined ? all : all.slice(0, all.findIndex(({ code }) => code.includes(until)) + 1)
  const script = blocks
    .map((block) => step(block, port))
    .join('\n')
    .replaceAll('3000', String(port))
    .replace(
      /^npm install .*$/gm,
      (line) => `${line.replace('express-token-endpoint', tarball)} --prefer-offline --no-audit --no-fund >&2`,
    )
  const setUp = "set -eo pipefail\ntrap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n"
  const shell = spawn('bash', ['-c', setUp + script], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
  })
  const [output, errors, [code]] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')])
  if (code !== 0) throw new Error(`exit ${code}: ${output}\n${errors}`)
  return output
}
