import { start } from '../../processes.mjs'
import { atEnd, ownChild } from '../cleanup.mjs'

const requestFor = (path, token) =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nAuthorization: Bearer ${token}\r\n\r\n`

/** Starts the pipelining generator in its own process. A `depth` of 1 turns pipelining off. */
export async function startPipeline() {
  const { child, ask } = await start(new URL('./pipeline.mjs', import.meta.url))
  ownChild(child)
  atEnd(() => child.disconnect())
  return async ({ path, token, ...order }) => {
    const { error, result } = await ask({ ...order, request: requestFor(path, token) })
    if (error) throw new Error(`the load generator: ${error}`)
    return result
  }
}
