import { start } from '../../bench/servers/processes.mjs'
import { atEnd, ownChild } from '../cleanup.mjs'

/**
 * Starts the example's reporting API with times of its own.
 * @param settings the options of `remoteKeys`
 * @returns its port
 */
export async function startReporting(settings, env) {
  const { child, first } = await start(new URL('./reporting-server.mjs', import.meta.url), {
    args: [JSON.stringify(settings)],
    env: { PATH: process.env.PATH, ...env },
    silent: true,
  })
  // A pipe that nobody reads from fills up, and its writer waits.
  child.stderr.resume()
  ownChild(child)
  atEnd(() => child.disconnect())
  return first.port
}

export const jwksOf = (port) => `http://127.0.0.1:${port}/.well-known/jwks.json`
