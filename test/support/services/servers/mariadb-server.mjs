import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { end } from './children.mjs'
import { freePort } from './free-port.mjs'

/** Debian has the server where only root looks. */
const PROGRAM = ['mariadbd', '/usr/sbin/mariadbd'].find((name) => spawnSync(name, ['--version']).status === 0)

export const HAS_MARIADB = PROGRAM !== undefined
export const HOW_TO_GET_MARIADB = "apt-get install mariadb-server, or your system's own package"

/** Creates and starts a temporary MariaDB on a free port, with an empty database. It asks for no password. */
export async function mariadbServer() {
  const dir = await mkdtemp(join(tmpdir(), 'mariadb-'))
  const user = `--user=${userInfo().username}`
  const made = spawnSync('mariadb-install-db', [
    '--no-defaults',
    user,
    `--datadir=${dir}`,
    // Two that start at once would remove each other's tables.
    `--tmpdir=${dir}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
  ])
  if (made.status !== 0) throw new Error(`mariadb-install-db: ${made.stderr}`)
  const port = await freePort()
  const child = spawn(String(PROGRAM), [
    '--no-defaults',
    user,
    `--datadir=${dir}`,
    `--tmpdir=${dir}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${dir}/socket`,
    `--pid-file=${dir}/pid`,
  ])
  for await (const line of child.stderr) {
    if (String(line).includes('ready for connections')) break
  }
  child.stderr.resume()
  await reachable(port)
  return {
    port,
    async remove() {
      await end(child, 'SIGKILL')
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** The first line comes before the port is open. */
async function reachable(port) {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
    })
    socket.destroy()
    if (isOpen) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
