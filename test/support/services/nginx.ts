import { onTestFinished } from 'vitest'
import { isMissing } from './missing.js'
import { freePort } from './servers/free-port.mjs'
import { HAS_NGINX, HOW_TO_GET_NGINX, nginxServer, nginxWith } from './servers/nginx-server.mjs'

/** True when this machine has no nginx, for `describe.skipIf`. */
export const NO_NGINX = isMissing(HAS_NGINX, 'nginx', HOW_TO_GET_NGINX)

/** Starts nginx with the example's configuration, and stops it when the test is over. */
export async function startNginx(upstreams: Parameters<typeof nginxServer>[0]) {
  const nginx = await nginxServer(upstreams)
  onTestFinished(() => nginx.remove())
  await nginx.start()
  return nginx
}

/**
 * Starts nginx with a configuration on one free port, and stops it when the test is over.
 * @param siteOn returns the text of the `http` block for the port
 */
export async function startNginxSite(siteOn: (port: number) => string): Promise<string> {
  const site = await freePort()
  const nginx = await nginxWith(siteOn(site), { site })
  onTestFinished(() => nginx.remove())
  await nginx.start()
  return `http://127.0.0.1:${site}`
}
