import type { Probe } from '../probe/probe.js'
import type { Guarded } from '../target.js'
import { mustAll } from '../verdict.js'

/** Creates the run of a row that judges each guarded path: each `closed`, `opened` or `telling` one. */
export const onEach =
  (paths: 'closed' | 'opened' | 'telling', judge: (probe: Probe, path: Guarded) => Promise<void>) =>
  async (probe: Probe): Promise<void> =>
    mustAll(await probe[paths](), (path) => judge(probe, path))
