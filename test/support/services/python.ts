import { spawnSync } from 'node:child_process'
import { isMissing } from './missing.js'

/** The Python that has the package `requests`: Debian's, or the first on the path. Undefined without one. */
export const PYTHON = ['python3', '/usr/bin/python3'].find(
  (path) => spawnSync(path, ['-c', 'import requests']).status === 0,
)

isMissing(PYTHON !== undefined, "Python's requests", 'apt-get install python3-requests')
