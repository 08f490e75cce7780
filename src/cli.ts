#!/usr/bin/env node
import { PROGRAM } from './cli/command.js'
import { EXIT } from './cli/failure.js'
import { main } from './cli/main.js'

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // A reader that has gone away (`… check URL | head`) has what it wanted.
  if (code === 'EPIPE') return
  // Of a key or a report that nobody has, nothing is to be said to be well.
  process.exitCode = EXIT.fails
  process.stderr.write(`${PROGRAM}: standard output: ${message}\n`)
})
process.stderr.on('error', () => {})

const status = await main(process.argv.slice(2), process)
process.exitCode ||= status
