import { execFile, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { childrenOf, end } from './children.mjs'
import { freePort } from './free-port.mjs'

/** The folder of PostgreSQL's programs on Debian, where they are not on the path. The newest version is first. */
const DEBIAN = '/usr/lib/postgresql'
const folders = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
const bin = ['', ...folders.map((version) => `${DEBIAN}/${version}/bin/`)].find((folder) =>
  ['postgres', 'initdb'].every((program) => spawnSync(folder + program, ['--version']).status === 0),
)

export const HAS_POSTGRES = bin !== undefined
export const HOW_TO_GET_POSTGRES = "apt-get install postgresql, or your system's own package"
export const PASSWORD = 'a p@ss/word'

const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', 'shared_buffers=16MB']

/** Creates a temporary PostgreSQL on a free port, and does not start it. Later settings win. */
export async function postgresServer({ settings = [] } = {}) {
  const port = await freePort()
  const dir = await mkdtemp(join(tmpdir(), 'postgres-'))
  const user = serverUser()
  let child
  let paused = []

  const server = {
    port,
    // Each process has its own session, so no signal reaches all of them.
    pids: () => [child.pid, ...childrenOf(child.pid)],
    async createDatabase() {
      const name = `test_${randomUUID().replaceAll('-', '')}`
      const client = new Client({ connectionString: urlOf(port, 'postgres') })
      await client.connect()
      await client.query(`create database ${name}`)
      await client.end()
      return urlOf(port, name)
    },
    async start() {
      const given = [...SETTINGS, ...settings].flatMap((setting) => ['-c', setting])
      const args = ['-D', join(dir, 'data'), '-p', `${port}`, ...given]
      child = spawn(`${bin}postgres`, args, { ...user, cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] })
      await readiness(child)
    },
    async kill() {
      server.resume()
      // SIGKILL would leave its other processes, and then it does not start again at once.
      await end(child, 'SIGQUIT')
    },
    pause() {
      paused = server.pids()
      for (const pid of paused) process.kill(pid, 'SIGSTOP')
    },
    resume() {
      for (const pid of paused) process.kill(pid, 'SIGCONT')
      paused = []
    },
    async remove() {
      await server.kill()
      await rm(dir, { recursive: true, force: true })
    },
  }

  try {
    if (user) await chown(dir, user.uid, user.gid)
    const passwordFile = join(dir, 'password')
    await writeFile(passwordFile, PASSWORD)
    const args = ['-D', join(dir, 'data'), '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`]
    // Not Debian's locale of the moment: the order of rows should not depend on the machine.
    const all = [...args, '--no-locale', '-E', 'UTF8', '--no-sync']
    await promisify(execFile)(`${bin}initdb`, all, { ...user, cwd: dir })
    return server
  } catch (error) {
    await server.remove()
    throw error
  }
}

/** Waits until the server is ready. Keeps reading its log, because a full pipe would block the server. */
async function readiness(child) {
  let log = ''
  await new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      log += chunk
      if (log.includes('ready to accept connections')) resolve()
    })
    child.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${log}`)))
  })
}

const urlOf = (port, database) => `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`

/** Returns the user `nobody` when the tests run as root, because PostgreSQL refuses to run as root. */
function serverUser() {
  if (process.getuid?.() !== 0) return undefined
  const [, , uid, gid] = /^nobody:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0].split(':') ?? []
  return { uid: Number(uid ?? 65_534), gid: Number(gid ?? 65_534) }
}
