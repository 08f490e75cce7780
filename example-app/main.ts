import { fork } from 'node:child_process'
import cluster from 'node:cluster'
import { setTimeout as after } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Config, readConfig } from './config.js'
import { explain, Failure } from './failure.js'
import { complain, say } from './output.js'
import { startBoth } from './processes/both.js'
import { type Child, watch } from './processes/child.js'
import { freePort } from './processes/listen.js'
import { ignoreTerminal, obeyOrders } from './processes/messages.js'
import { startPool } from './processes/pool.js'
import { type Service, type ServiceName, TITLES } from './processes/service.js'
import { stopOnSignals } from './processes/signals.js'
import { welcome, welcomeToOne } from './processes/welcome.js'

const FILE = fileURLToPath(import.meta.url)

/** What a process is, for those that this program starts itself. */
const SUPERVISED = '--supervised'

interface Command {
  name: ServiceName | undefined
  /** Whether this program started it. */
  supervised: boolean
}

function readCommand(args: string[]): Command {
  const options = { supervised: { type: 'boolean' } } as const
  const { values, positionals } = parseArgs({ args, options, strict: false, allowPositionals: true })
  const [name, ...more] = positionals
  if ((name !== undefined && !Object.hasOwn(TITLES, name)) || more.length > 0) {
    throw new Failure('To start one API: "clearing-house" or "reporting". To start both: nothing.')
  }
  return { name: name as ServiceName | undefined, supervised: values.supervised === true }
}

/** In this process. Each API loads only what it needs. */
async function startHere(name: ServiceName, config: Config): Promise<Service> {
  if (name === 'clearing-house')
    return (await import('./processes/clearing-house-service.js')).startClearingHouse(config)
  return (await import('./processes/reporting-service.js')).startReporting(config)
}

async function startWorkers(name: ServiceName, config: Config, size: number): Promise<Service | undefined> {
  if (name === 'clearing-house' && size > 1 && !config.redisUrl) {
    throw new Failure(
      `WORKERS=${size} needs REDIS_URL: each process would count failed logins for itself, and let ${size} times as many guesses through`,
    )
  }
  cluster.setupPrimary({ exec: FILE, args: [name, SUPERVISED] })
  const [variable, port] = name === 'clearing-house' ? ['PORT', config.port] : ['REPORTING_PORT', config.reportingPort]
  // Of one that each found for itself, the next one would know nothing.
  const env = { [variable]: port || (await freePort(config.host)) }
  return startPool({
    size,
    start: () => owned(watch(cluster.fork(env).process)),
    log: complain,
    pause: after,
  })
}

/** Both, in processes of their own. */
function startPair(config: Config) {
  return startBoth({
    start: (name, env) => owned(watch(fork(FILE, [name, SUPERVISED], { env: { ...process.env, ...env } }))),
    reportingPort: config.reportingPort,
    log: complain,
  })
}

const children = new Set<Child>()
// However this process ends, none that it started outlives it.
process.on('exit', () => {
  for (const child of children) child.kill()
})

function owned(child: Child): Child {
  children.add(child)
  void child.ended.then(() => children.delete(child))
  return child
}

async function start({ name, supervised }: Command, config: Config): Promise<void> {
  if (name === undefined) {
    const pair = await startPair(config)
    if (!pair) return process.exit(1)
    const { ready, reporting } = pair
    const page = pageUrlOf(config, ready.url)
    return govern(pair, config, welcome({ clearingHouse: ready.url, reporting, page }, ready.demo))
  }
  const workers = name === 'reporting' ? config.workers?.reporting : config.workers?.clearingHouse
  const alone = workers === undefined || cluster.isWorker
  const service = alone ? await startHere(name, config) : await startWorkers(name, config, workers)
  if (!service) return process.exit(1)
  if (supervised) return obeyOrders(service)
  const { url } = service.ready
  const page = name === 'clearing-house' ? pageUrlOf(config, url) : undefined
  govern(service, config, welcomeToOne(TITLES[name], url, page))
}

/** The reporting API lets pages from there alone call it. */
function pageUrlOf({ baseUrl }: Config, url: string): string {
  return (baseUrl ?? url).replace(/\/*$/, '/')
}

/** What belongs to the process that the user started. */
function govern(service: Service, { workers }: Config, greeting: string): void {
  let stopping = false
  const stop = () => {
    stopping = true
    return service.stop()
  }
  stopOnSignals(stop)
  process.on('SIGUSR2', async () => {
    if (!workers || !service.restart)
      return complain('Only with WORKERS set can processes be replaced while they serve.')
    if (await service.restart()) say('Restarted.')
  })
  void service.failed?.then(async () => {
    if (stopping) return
    await stop().catch(() => {})
    process.exit(1)
  })
  say(greeting)
  if (workers) say(`To replace the processes one after the other: kill -USR2 ${process.pid}`)
}

try {
  const command = readCommand(process.argv.slice(2))
  if (command.supervised) ignoreTerminal()
  await start(command, readConfig(process.env))
} catch (error) {
  complain(explain(error))
  process.exit(1)
}
