import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../support/services/servers/free-port.mjs'
import { atEnd, ownChild } from '../cleanup.mjs'

const MAIN = fileURLToPath(new URL('../../../../example-app/dist/main.js', import.meta.url))
const START_MS = 60_000

/**
 * Starts one API of the built example, and waits until it is ready.
 * @param name `clearing-house` or `reporting`
 */
export async function startApi(name, env, port) {
  const at = port ?? (await freePort())
  const variable = name === 'reporting' ? 'REPORTING_PORT' : 'PORT'
  const child = ownChild(
    spawn(process.execPath, [MAIN, name], {
      env: { PATH: process.env.PATH, ...env, [variable]: `${at}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  let log = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      log += text
    })
  }
  const exited = once(child, 'exit')
  const isGone = () => child.exitCode !== null || child.signalCode !== null
  const api = {
    name,
    port: at,
    pid: child.pid,
    log: () => log,
    async stop(signal = 'SIGTERM') {
      if (isGone()) return
      child.kill(signal)
      await exited
    },
    async waitUntilReady() {
      const until = performance.now() + START_MS
      while (performance.now() < until) {
        if (isGone()) throw new Error(`${name} ended at its start:\n${log}`)
        if ((await statusOf(at, '/readyz')) === 200) return
        await sleep(50)
      }
      throw new Error(`${name} was not ready within ${START_MS / 1000} s:\n${log}`)
    },
  }
  atEnd(() => api.stop())
  await api.waitUntilReady()
  return api
}

async function statusOf(port, path) {
  try {
    return (await fetch(`http://127.0.0.1:${port}${path}`)).status
  } catch {
    return undefined
  }
}
