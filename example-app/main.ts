import { type Config, readConfig } from './config.js'
import { explain, OperatorError } from './errors.js'
import { complain, say } from './output.js'
import { startClearingHouse } from './processes/clearing-house.js'
import { startReporting } from './processes/reporting.js'
import { stopOnSignals } from './processes/signals.js'
import { welcome, welcomeToClearingHouse, welcomeToReporting } from './processes/welcome.js'

interface Started {
  greeting: string
  stop: () => Promise<unknown>
}

const PORT_VARIABLES = { 'clearing-house': 'PORT', reporting: 'REPORTING_PORT' } as const

type Api = keyof typeof PORT_VARIABLES

/**
 * Reads which API to start, and the environment variable that its port sets: `reporting:3010`. No argument starts both.
 * @throws OperatorError for any other argument
 */
function readArguments([argument, ...more]: string[]): { api?: Api; env?: NodeJS.ProcessEnv } {
  if (argument === undefined) return {}
  const [, name, port] = /^(clearing-house|reporting)(?::(\d+))?$/.exec(argument) ?? []
  if (name === undefined || more.length > 0) {
    throw new OperatorError(
      'Unknown arguments. Pass "clearing-house" or "reporting" to start one API, or nothing to start both.',
    )
  }
  const api = name as Api
  return { api, env: port === undefined ? {} : { [PORT_VARIABLES[api]]: port } }
}

async function startBoth(config: Config): Promise<Started> {
  let reportingUrl = config.reportingUrl
  const clearingHouse = await startClearingHouse(config, () => reportingUrl)
  // With PORT=0 the clearing-house API has its port only now.
  const reporting = await startReporting({ ...config, port: clearingHouse.port })
  reportingUrl ??= reporting.url
  return {
    greeting: welcome(clearingHouse, reporting.url),
    stop: () => Promise.all([clearingHouse.stop(), reporting.stop()]),
  }
}

async function startOne(api: Api, config: Config): Promise<Started> {
  if (api === 'reporting') {
    const reporting = await startReporting(config)
    return { greeting: welcomeToReporting(reporting.url), stop: reporting.stop }
  }
  const clearingHouse = await startClearingHouse(config, () => config.reportingUrl)
  return { greeting: welcomeToClearingHouse(clearingHouse), stop: clearingHouse.stop }
}

try {
  const { api, env } = readArguments(process.argv.slice(2))
  const config = readConfig({ ...process.env, ...env })
  const { greeting, stop } = api === undefined ? await startBoth(config) : await startOne(api, config)
  stopOnSignals(stop)
  say(greeting)
} catch (error) {
  complain(explain(error))
  process.exit(1)
}
