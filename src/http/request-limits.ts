/**
 * The most guarded requests in each queue, and in each limit of calls. All guards of the process share them. Only a client that pipelines
 * has several on a connection.
 */
export const GUARDED_REQUESTS = { total: 4096, perNetwork: 2048, perConnection: 128 }

/** The most token calls that may wait, at all routers together. No client has a reason to pipeline token calls. */
export const TOKEN_CALLS = { total: 2048, perNetwork: 1024, perConnection: 16 }
