import { spawnSync } from 'node:child_process'

/** True when this machine has no systemd-analyze, for `test.skipIf`. */
export const NO_SYSTEMD = spawnSync('systemd-analyze', ['--version']).status !== 0

if (NO_SYSTEMD) {
  const message = 'systemd-analyze is missing. Install it: apt-get install systemd'
  if (process.env['REQUIRE_SERVICES']) throw new Error(message)
  process.stdout.write(`The test of the systemd unit is skipped. ${message}\n`)
}
