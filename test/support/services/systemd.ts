import { spawnSync } from 'node:child_process'
import { isMissing } from './missing.js'

const isThere = spawnSync('systemd-analyze', ['--version']).status === 0

/** True when this machine has no systemd-analyze, for `test.skipIf`. */
export const NO_SYSTEMD = isMissing(isThere, 'systemd-analyze', 'apt-get install systemd')
