import { readConfig } from '../config.js'
import { addKey, hasKeys, listKeys, promoteKey, removeKey } from '../data/signing-keys.js'
import { OperatorError } from '../errors.js'
import { type Command, readCommand, USAGE } from './key-arguments.js'
import { runCommand } from './run-command.js'

/** Runs the command and returns the text to print, which contains the ids of keys and never a key. */
function run(command: Exclude<Command, { name: 'help' }>, dataDir: string): string {
  // Without this check a misspelled DATA_DIR would get a new key.
  if (!hasKeys(dataDir))
    throw new OperatorError(`${dataDir} has no key. Start the clearing-house API once to create one.`)
  switch (command.name) {
    case 'list':
      return listKeys(dataDir)
        .map((key) => `${key.kid}  ${key.signs ? 'signs   ' : 'verifies'}  since ${key.since.toISOString()}`)
        .join('\n')
    case 'add': {
      const added = addKey(dataDir)
      return `Added ${added}. It does not sign yet.\nRestart all processes one by one. Then run: npm run example -- keys promote ${added}`
    }
    case 'promote':
      promoteKey(dataDir, command.kid)
      return `Promoted ${command.kid}. Restart all processes one by one.`
    case 'remove':
      removeKey(dataDir, command.kid)
      return `Removed ${command.kid}. Restart all processes one by one; then they refuse its tokens.`
  }
}

await runCommand(USAGE, () => {
  const command = readCommand(process.argv.slice(2))
  return command.name === 'help' ? USAGE : run(command, readConfig(process.env).dataDir)
})
