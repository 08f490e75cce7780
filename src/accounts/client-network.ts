export { clientNetwork } from './throttle-keys.js'
