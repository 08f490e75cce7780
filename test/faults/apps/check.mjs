// Checks an app of this folder, next to another environment of it: node check.mjs own.mjs
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'

const COMMAND = fileURLToPath(new URL('../../../dist/cli.cjs', import.meta.url))

/** Runs the command with an app's options. Returns its report. */
export async function check({ createApp, HERE, THERE, OPTIONS, ENV }, run) {
  const servers = [HERE, THERE].map((issuer) => createApp(issuer).listen(0, '127.0.0.1'))
  try {
    await Promise.all(servers.map((server) => once(server, 'listening')))
    const [url, there] = servers.map((server) => `http://127.0.0.1:${server.address().port}`)
    const stdout = await run(['check', url, '--other', there, ...OPTIONS, '--json'], ENV)
    return JSON.parse(stdout)
  } finally {
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** Returns the rows that fail. */
export const failing = ({ rows }) => rows.filter(({ verdict }) => verdict === 'fails').map(({ id }) => id)

async function runCommand(args, env) {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return text(child.stdout)
}

const [, program, app] = process.argv
if (program && import.meta.url === pathToFileURL(program).href) {
  const report = await check(await import(new URL(app, import.meta.url).href), runCommand)
  const fails = failing(report)
  // A fault is found by a verdict, not by a row that stumbles over it.
  if (report.rows.some(({ detail }) => detail?.includes('cannot be judged'))) fails.push('a row that cannot be judged')
  if (fails.length > 0) process.stdout.write(`fails: ${fails.join(', ')}\n`)
  process.exitCode = fails.length > 0 ? 1 : 0
}
