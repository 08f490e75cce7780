import { readConfig } from '../config.js'
import { type Accounts, createAccountStore } from '../data/account-store.js'
import { openDatabase } from '../data/databases/database.js'
import { explain, Failure } from '../failure.js'
import { complain, say } from '../output.js'
import { type Command, readCommand, USAGE, UsageError } from './account-arguments.js'
import { newPasswordHash } from './new-password.js'

async function run(command: Exclude<Command, { name: 'help' }>, accounts: Accounts): Promise<string> {
  const { email } = command
  const exists = (await accounts.findByEmail(email)) !== undefined
  if (command.name === 'add' && exists) throw new Failure(`There is an account ${email} already.`)
  if (command.name === 'password' && !exists) throw new Failure(`There is no account ${email}.`)
  const passwordHash = await newPasswordHash()
  if (command.name === 'add') {
    const id = await accounts.add({ email, passwordHash, scopes: command.scopes })
    if (id === undefined) throw new Failure(`There is an account ${email} already.`)
    return `Added ${email}.`
  }
  if (!(await accounts.setPasswordHash(email, passwordHash))) throw new Failure(`There is no account ${email}.`)
  return `The password of ${email} is set.`
}

async function main(): Promise<void> {
  const command = readCommand(process.argv.slice(2))
  if (command.name === 'help') return say(USAGE)
  const db = await openDatabase(readConfig(process.env), complain)
  try {
    say(await run(command, createAccountStore(db)))
  } finally {
    await db.destroy()
  }
}

try {
  await main()
} catch (error) {
  complain(explain(error))
  if (error instanceof UsageError) complain(`\n${USAGE}`)
  process.exitCode = error instanceof UsageError ? 2 : 1
}
