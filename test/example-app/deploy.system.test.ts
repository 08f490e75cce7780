import { spawnSync } from 'node:child_process'
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { keySourceOf, readConfig } from '../../example-app/config.js'
import { freePort } from '../support/services/servers/free-port.mjs'
import { NO_SYSTEMD } from '../support/services/systemd.js'
import { FOLDER, start, tempDir } from './support.js'

const DEPLOY = join(FOLDER, 'deploy')
const UNIT = 'express-token-endpoint-example@.service'

/** Returns the values of one key of the systemd unit. */
async function unitValues(key: string): Promise<string[]> {
  const unit = await readFile(join(DEPLOY, UNIT), 'utf8')
  return unit.split('\n').flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []))
}

describe('the systemd unit', () => {
  test.skipIf(NO_SYSTEMD)('systemd-analyze finds no fault', async () => {
    const file = join(await tempDir(), UNIT)
    await copyFile(join(DEPLOY, UNIT), file)
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    // Node's path depends on the machine.
    const faults = (stdout + stderr).split('\n').filter((line) => line && !line.includes('/usr/bin/node'))
    expect({ status, faults }).toEqual({ status: 0, faults: [] })
  })

  test('starts a file of the build, waits until /readyz returns 200, and at the end longer than the process needs', async () => {
    const [command = ''] = await unitValues('ExecStart')
    expect(command).toMatch(/^\/usr\/bin\/node \/opt\/express-token-endpoint\/example-app\/dist\/main\.js %i$/)
    const instance = `clearing-house:${await freePort()}`
    await start({ DATA_DIR: await tempDir() }, instance)
    const [check = ''] = await unitValues('ExecStartPost')
    /** Runs the check with the two replacements that systemd makes, and without more attempts. */
    const statusOf = (name: string) => {
      const line = check.replace('%i', name).replaceAll('$$', '$').replace('--retry 30', '--retry 0')
      return spawnSync('bash', ['-c', line], { timeout: 30_000 }).status
    }
    expect(statusOf(instance)).toBe(0)
    expect(statusOf(`clearing-house:${await freePort()}`)).not.toBe(0)
    expect(Number(await unitValues('TimeoutStopSec'))).toBeGreaterThan(10)
  })
})

interface Service {
  command?: string[]
  environment?: Record<string, string>
  depends_on?: Record<string, object>
  network_mode?: string
  volumes?: string[]
  healthcheck?: { test: string[] }
}

describe('compose.yaml', async () => {
  const text = (await readFile(join(DEPLOY, 'compose.yaml'), 'utf8')).replaceAll(
    /\$\{(\w+)(?::-(.*?)|:\?.*?)\}/g,
    (_, _name, value) => value ?? 'secret',
  )
  const file = parse(text, { merge: true }) as { services: Record<string, Service>; volumes: Record<string, null> }
  const apis = Object.entries(file.services).filter(([name]) => /^(clearing-house|reporting)-/.test(name))

  test('has two processes of each API, their stores, and every dependency and volume', () => {
    const names = ['clearing-house-1', 'clearing-house-2', 'reporting-1', 'reporting-2', 'nginx', 'postgres', 'redis']
    expect(Object.keys(file.services)).toEqual(names)
    for (const { depends_on = {}, volumes = [] } of Object.values(file.services)) {
      expect(names).toEqual(expect.arrayContaining(Object.keys(depends_on)))
      const sources = volumes.map((volume) => volume.split(':')[0]).filter((source) => !source?.startsWith('.'))
      expect(Object.keys(file.volumes)).toEqual(expect.arrayContaining(sources))
    }
  })

  test.each(apis)(
    '%s: the program accepts its environment, and nginx and the health check its port',
    async (name, api) => {
      const { environment = {}, command, healthcheck, network_mode } = api
      const known = [
        'BASE_URL',
        'REPORTING_URL',
        'JWKS_URL',
        'DATABASE_URL',
        'REDIS_URL',
        'TRUSTED_PROXIES',
        'DATA_DIR',
      ]
      expect(known).toEqual(expect.arrayContaining(Object.keys(environment)))
      const config = readConfig(environment)
      expect(config).toMatchObject({ trustedProxies: 1, host: '127.0.0.1' })
      expect(config.exposedBy).toContain('TRUSTED_PROXIES')
      expect(keySourceOf(config)).toEqual({ issuer: config.baseUrl, jwksUrl: environment['JWKS_URL'] })
      expect(environment['DATA_DIR']).toBe(name.startsWith('clearing') ? '/data' : undefined)
      const port = command?.at(-1)?.split(':')[1]
      expect(await readFile(join(DEPLOY, 'nginx.conf'), 'utf8')).toContain(`  server 127.0.0.1:${port} max_fails=0;\n`)
      expect(healthcheck?.test.at(-1)).toContain(`http://127.0.0.1:${port}/readyz`)
      expect(network_mode).toBe('service:nginx')
    },
  )
})
