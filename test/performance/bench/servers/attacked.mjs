import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../support/services/servers/free-port.mjs'
import { seconds, start } from '../../processes.mjs'

/** The ways to run an app that is under attack. The first one has no settings. */
export const SETTINGS = {
  defaults: {},
  'Express without a guard or a limit': { kind: 'nothing' },
  'concurrency: 1': { passwords: { concurrency: 1 } },
  'hashing threads have a low priority': { nice: true },
  'semi-space of 64 MB': { execArgv: ['--min-semi-space-size=64', '--max-semi-space-size=64'] },
  'logins in their own process': { loginProcess: true },
  'behind nginx': { nginx: '' },
  'behind nginx with limits': { nginx: 'limit_conn connections 32; limit_req zone=requests burst=100 nodelay;' },
}

/** Starts the app in its own process. Logins go to `loginPort`, and all other requests to `port`. */
export async function startAttacked(kind, { passwords, nice, execArgv, loginProcess, nginx }, node) {
  const startOne = () =>
    start(new URL('attacked-server.mjs', import.meta.url), {
      args: [kind, JSON.stringify({ passwords, nice })],
      execArgv,
      node,
    })
  const servers = [await startOne(), ...(loginProcess ? [await startOne()] : [])]
  const proxy = nginx === undefined ? undefined : await startNginx(servers[0].first, nginx)
  const port = proxy?.port ?? servers[0].first
  return {
    port,
    loginPort: loginProcess ? servers[1].first : port,
    pid: servers[0].child.pid,
    others: [...servers.slice(1).map(({ child }) => child.pid), ...(proxy?.pids ?? [])],
    async stop() {
      await proxy?.stop()
      for (const { child } of servers) child.disconnect()
    },
  }
}

const configurationOf = (port, server, limits) => `
daemon off; worker_processes 1; pid nginx.pid; error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off; client_body_temp_path body; proxy_temp_path proxy;
  fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  limit_conn_zone $binary_remote_addr zone=connections:1m; limit_conn_status 429;
  limit_req_zone $binary_remote_addr zone=requests:1m rate=400r/s; limit_req_status 429;
  upstream api { server 127.0.0.1:${server}; keepalive 64; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096; keepalive_requests 1000000; ${limits}
    proxy_http_version 1.1; proxy_set_header Connection "";
    location / { proxy_pass http://api; }
  }
}`

async function startNginx(server, limits) {
  const folder = await mkdtemp(join(tmpdir(), 'attacked-'))
  const port = await freePort()
  await writeFile(join(folder, 'nginx.conf'), configurationOf(port, server, limits))
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'inherit' })
  for (let tries = 0; tries < 100; tries++) {
    const found = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)
    if (found) break
    await seconds(0.02)
  }
  return {
    port,
    pids: [child.pid],
    async stop() {
      child.kill()
      await once(child, 'exit')
      await rm(folder, { recursive: true })
    },
  }
}
