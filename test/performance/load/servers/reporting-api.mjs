import { start } from '../../processes.mjs'
import { atEnd, ownChild } from '../cleanup.mjs'

/**
 * Starts the example's reporting API with other options of `remoteKeys`. Returns its port.
 * @param settings the options of `remoteKeys`
 */
export async function startReporting(settings, env) {
  const { child, first } = await start(new URL('./reporting-server.mjs', import.meta.url), {
    args: [JSON.stringify(settings)],
    env: { PATH: process.env.PATH, ...env },
    silent: true,
  })
  // The server would block when the pipe is full.
  child.stderr.resume()
  ownChild(child)
  atEnd(() => child.disconnect())
  return first.port
}

export const jwksOf = (port) => `http://127.0.0.1:${port}/.well-known/jwks.json`
