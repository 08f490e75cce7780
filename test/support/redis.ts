import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { onTestFinished } from 'vitest'

const found = spawnSync('redis-server', ['--version']).status === 0

if (!found) {
  const how = "apt-get install redis-server, or your system's own package"
  if (process.env['REQUIRE_SERVICES']) throw new Error(`redis-server is not there. To get it: ${how}`)
  process.stdout.write(`Tests with Redis are skipped: redis-server is not there. To get it: ${how}\n`)
}

/** For `describe.skipIf`: whether this machine has no Redis. */
export const NO_REDIS = !found

export interface TestRedis {
  url: string
  port: number
  process: () => ChildProcess
  start(): Promise<void>
  /** Kills it as a power cut would. */
  kill(): Promise<void>
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Starts a throw-away Redis on a free port, and stops it when the test is over. With a folder, it keeps there what it knows. */
export async function startRedis({ dir }: { dir?: string } = {}): Promise<TestRedis> {
  const port = await freePort()
  let child: ChildProcess | undefined
  const redis: TestRedis = {
    port,
    url: `redis://127.0.0.1:${port}`,
    process: () => child as ChildProcess,
    async start() {
      const keep = dir ? ['--dir', dir, '--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no']
      child = spawn('redis-server', ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', ...keep])
      for await (const line of child.stdout as AsyncIterable<Buffer>) {
        if (line.includes('Ready to accept connections')) break
      }
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
  onTestFinished(() => redis.kill())
  await redis.start()
  return redis
}
