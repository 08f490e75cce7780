export { refreshOnServer, type ServerRefreshOptions, type ServerSession } from './refresh-on-server.js'
