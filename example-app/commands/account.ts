import { readConfig } from '../config.js'
import { type Accounts, createAccountStore } from '../data/account-store.js'
import { openDatabase } from '../data/databases/database.js'
import { OperatorError } from '../errors.js'
import { complain } from '../output.js'
import { type Command, readCommand, USAGE } from './account-arguments.js'
import { newPasswordHash } from './new-password.js'
import { runCommand } from './run-command.js'

async function run(command: Exclude<Command, { name: 'help' }>, accounts: Accounts): Promise<string> {
  const { email } = command
  const exists = (await accounts.findByEmail(email)) !== undefined
  if (command.name === 'add' && exists) throw new OperatorError(`The account ${email} exists already.`)
  if (command.name === 'password' && !exists) throw new OperatorError(`No account has the address ${email}.`)
  const passwordHash = await newPasswordHash()
  if (command.name === 'add') {
    const id = await accounts.add({ email, passwordHash, scopes: command.scopes })
    if (id === undefined) throw new OperatorError(`The account ${email} exists already.`)
    return `Added ${email}.`
  }
  if (!(await accounts.setPasswordHash(email, passwordHash)))
    throw new OperatorError(`No account has the address ${email}.`)
  return `Set the password of ${email}.`
}

await runCommand(USAGE, async () => {
  const command = readCommand(process.argv.slice(2))
  if (command.name === 'help') return USAGE
  const db = await openDatabase(readConfig(process.env), complain)
  try {
    return await run(command, createAccountStore(db))
  } finally {
    await db.destroy()
  }
})
