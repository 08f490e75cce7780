import { spawnSync } from 'node:child_process'

/** Debian's Python has the packages of Debian. Another one may be first on the path. */
const program = ['python3', '/usr/bin/python3'].find((path) => spawnSync(path, ['-c', 'import requests']).status === 0)

if (!program) {
  const message = "Python's requests is missing. Install it: apt-get install python3-requests"
  if (process.env['REQUIRE_SERVICES']) throw new Error(message)
  process.stdout.write(`Tests with Python are skipped. ${message}\n`)
}

/** The Python that has the package `requests`. Undefined without one. */
export const PYTHON = program
