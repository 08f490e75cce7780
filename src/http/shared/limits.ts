/**
 * How many guarded requests may wait, at all guards together. Only a client that pipelines has more than one request per connection.
 */
export const GUARDED_REQUESTS = { total: 4096, perNetwork: 2048, perConnection: 128 }

/** How many token calls may wait, at all routers together. No client has a reason to pipeline token calls. */
export const TOKEN_CALLS = { total: 2048, perNetwork: 1024, perConnection: 16 }
