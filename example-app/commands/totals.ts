import { apiUrlsOf, readConfig, readServiceAccount } from '../config.js'
import { dailyTotals } from './daily-totals.js'
import { runCommand } from './run-command.js'
import { readCommand, USAGE } from './totals-arguments.js'

const PATIENCE_MS = 60_000

await runCommand(USAGE, async () => {
  const command = readCommand(process.argv.slice(2))
  if (command.name === 'help') return USAGE
  const account = readServiceAccount(process.env)
  const urls = apiUrlsOf(readConfig(process.env))
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const houses = await dailyTotals({ ...urls, account, house: command.house, signal })
  return houses.flatMap(({ id, days }) => days.map(({ day, total }) => `${id}  ${day}  ${total}`)).join('\n')
})
