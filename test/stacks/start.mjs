import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { PASSWORD } from './account.mjs'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const installed = (name) => existsSync(`${HERE}node_modules/${name}/package.json`)

/** Python with Debian's packages, when they are installed. */
const python = ['/usr/bin/python3', 'python3'].find(
  (program) => spawnSync(program, ['-c', 'import rest_framework_simplejwt']).status === 0,
)

/** The stacks: their folder, their name in the table, and whether their packages are installed. */
export const STACKS = [
  { folder: 'express-tutorial', name: 'Express tutorial', ready: true },
  { folder: 'better-auth', name: 'better-auth', ready: installed('better-auth') },
  { folder: 'fastify-jwt', name: 'Fastify', ready: installed('@fastify/jwt') },
  { folder: 'hono-jwt', name: 'Hono', ready: installed('hono') },
  { folder: 'django-simplejwt', name: 'Django', ready: python !== undefined },
]

/** Starts a stack. Returns its URL and a function that ends it. */
export async function start({ folder }) {
  const [program, file] = folder.startsWith('django') ? [python, 'server.py'] : [process.execPath, 'server.mjs']
  const child = spawn(program, [`${HERE}${folder}/${file}`], {
    stdio: ['ignore', 'pipe', 'ignore'],
    // As in production: Express then shows no stack traces.
    env: { ...process.env, NODE_ENV: 'production', STACK_PASSWORD: PASSWORD },
  })
  const exited = once(child, 'exit')
  const line = await Promise.race([once(createInterface(child.stdout), 'line'), exited.then(() => ['it ended'])])
  const url = /http:\S+/.exec(line[0])?.[0]
  if (!url) throw new Error(`${folder}: ${line[0]}`)
  return {
    url,
    async stop() {
      child.kill()
      await exited
    },
  }
}

export const mappingOf = ({ folder }) => `${HERE}${folder}/mapping.json`
