#!/usr/bin/env node
import { main, outputFailed } from './cli/main.js'

process.stdout.on('error', (error) => {
  process.exitCode ||= outputFailed(error, process)
})
process.stderr.on('error', () => {})

main(process.argv.slice(2), process).then((status) => {
  process.exitCode ||= status
})
