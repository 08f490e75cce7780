import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { childrenOf, end } from './children.mjs'
import { freePort } from './free-port.mjs'

/** Debian's program is not on the path of every user. */
const program = ['nginx', '/usr/sbin/nginx'].find((path) => spawnSync(path, ['-v']).status === 0)

export const HAS_NGINX = program !== undefined
export const HOW_TO_GET_NGINX = 'apt-get install nginx'

const SITE = new URL('../../../../example-app/deploy/nginx.conf', import.meta.url)

/**
 * Returns the shipped configuration with other ports: one `server` line for each given port, and two `listen` lines.
 * @throws Error when the file no longer has such a line
 */
async function siteWith(ports, listen) {
  let site = await readFile(SITE, 'utf8')
  const replace = (pattern, text) => {
    if (!pattern.test(site)) throw new Error(`nginx.conf has no ${pattern}`)
    site = site.replace(pattern, text)
  }
  for (const [name, list] of Object.entries(ports)) {
    const lines = list.map((port) => `  server 127.0.0.1:${port} max_fails=0;\n`).join('')
    replace(
      new RegExp(`(?<=upstream ${name} \\{\\n(?:  #.*\\n)*)(?:  server 127\\.0\\.0\\.1:\\d+ max_fails=0;\\n)+`),
      lines,
    )
  }
  replace(/(?<=^ {2}listen )8080(?=;$)/m, `127.0.0.1:${listen.clearingHouse}`)
  replace(/(?<=^ {2}listen )8081(?=;$)/m, `127.0.0.1:${listen.reporting}`)
  return site
}

/** Adds the settings that Debian has in its own nginx.conf. The access log shows which process sent each response. */
const mainWith = (dir) => `
  ${process.getuid?.() === 0 ? 'user root;' : ''}
  daemon off;
  pid ${dir}/nginx.pid;
  worker_processes 1;
  events { worker_connections 1024; }
  http {
    log_format with_upstream '$status $upstream_addr "$request" "$http_referer" "$http_user_agent"';
    access_log ${dir}/access.log with_upstream;
    ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')}
    include ${dir}/site.conf;
  }`

/**
 * Prepares nginx with the example's configuration on two free ports.
 * @param {{ clearing_house?: readonly number[], reporting?: readonly number[] }} upstreams the ports of the processes by the name of
 *   their upstream block
 */
export async function nginxServer(upstreams) {
  const ports = { clearingHouse: await freePort(), reporting: await freePort() }
  return nginxWith(await siteWith(upstreams, ports), ports)
}

/**
 * Prepares nginx with a configuration.
 * @param site the text of the `http` block
 * @param ports the ports on which the configuration listens, by name
 */
export async function nginxWith(site, ports) {
  const dir = await mkdtemp(join(tmpdir(), 'nginx-'))
  await writeFile(join(dir, 'site.conf'), site)
  await writeFile(join(dir, 'nginx.conf'), mainWith(dir))
  let child
  return {
    ports,
    pids: () => [child.pid, ...childrenOf(child.pid)],
    accessLog: () => readFile(join(dir, 'access.log'), 'utf8'),
    errorLog: () => readFile(join(dir, 'error.log'), 'utf8'),
    async start() {
      child = spawn(program, ['-p', dir, '-e', join(dir, 'error.log'), '-c', join(dir, 'nginx.conf')])
      let output = ''
      child.stderr.on('data', (chunk) => {
        output += chunk
      })
      for (const port of Object.values(ports)) {
        while (!(await accepts(port))) {
          if (child.exitCode !== null) throw new Error(`nginx did not start:\n${output}`)
          await after(20)
        }
      }
    },
    async remove() {
      await end(child, 'SIGTERM')
      await rm(dir, { recursive: true, force: true })
    },
  }
}

async function accepts(port) {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
