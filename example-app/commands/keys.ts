import { readConfig } from '../config.js'
import { addKey, hasKeys, listKeys, promoteKey, removeKey } from '../data/signing-keys.js'
import { explain, Failure } from '../failure.js'
import { complain, say } from '../output.js'
import { type Command, readCommand, USAGE, UsageError } from './key-arguments.js'

/** @returns what to tell. Never a key, only its id */
function run(command: Exclude<Command, { name: 'help' }>, dataDir: string): string {
  // A folder that is named wrongly is not to be filled.
  if (!hasKeys(dataDir))
    throw new Failure(`${dataDir} holds no key. The first start of the clearing-house API makes one`)
  switch (command.name) {
    case 'list':
      return listKeys(dataDir)
        .map((key) => `${key.kid}  ${key.signs ? 'signs   ' : 'verifies'}  since ${key.since.toISOString()}`)
        .join('\n')
    case 'add': {
      const added = addKey(dataDir)
      return `Added ${added}. It does not sign yet.\nStart all processes anew; then: npm run keys -- promote ${added}`
    }
    case 'promote':
      promoteKey(dataDir, command.kid)
      return `${command.kid} signs, in processes that start from now on.`
    case 'remove':
      removeKey(dataDir, command.kid)
      return `Removed ${command.kid}. Processes that start from now on refuse its tokens.`
  }
}

try {
  const command = readCommand(process.argv.slice(2))
  say(command.name === 'help' ? USAGE : run(command, readConfig(process.env).dataDir))
} catch (error) {
  complain(explain(error))
  if (error instanceof UsageError) complain(`\n${USAGE}`)
  process.exitCode = error instanceof UsageError ? 2 : 1
}
