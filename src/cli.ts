#!/usr/bin/env node
import { main, outputFailed } from './cli/main.js'

process.stdout.on('error', (error) => {
  process.exitCode ||= outputFailed(error, process)
})
process.stderr.on('error', () => {})

const status = await main(process.argv.slice(2), process)
process.exitCode ||= status
