import { start } from '../../processes.mjs'
import { ownFork } from '../cleanup.mjs'

/**
 * Starts the example's reporting API with other options of `remoteKeys`.
 * @param settings the options of `remoteKeys`
 */
export async function startReporting(settings, port, env) {
  const { child } = await start(new URL('./reporting-server.mjs', import.meta.url), {
    args: [JSON.stringify(settings)],
    env: { PATH: process.env.PATH, ...env, REPORTING_PORT: `${port}` },
    silent: true,
  })
  // The server would block when the pipe is full.
  child.stderr.resume()
  ownFork(child)
}
