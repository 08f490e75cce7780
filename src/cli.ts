#!/usr/bin/env node
import { main } from './cli/main.js'

/** A reader that has gone away (`… check URL | head`) is no reason for a stack. */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

process.exitCode = await main(process.argv.slice(2), process)
