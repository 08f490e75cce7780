/** The most guarded requests in each queue, and in each limit of calls. All guards of the process share them. */
export const GUARDED_REQUESTS = { total: 4096, perNetwork: 2048 }

/**
 * The most token calls that may wait, at all routers together. Responses leave a connection of HTTP/1 in order. So a client that pipelines
 * has to wait for its first logins, and cannot cause refusals as fast as Node reads.
 */
export const TOKEN_CALLS = { total: 2048, perNetwork: 1024, perConnection: 16 }

/** The most unread bodies of refused requests that are drained at the same time. A further one is drained for a shorter time. */
export const DRAINED_BODIES = { total: 1024, perNetwork: 256 }
