import { PAGE } from '../options/misuse.js'
import { warn } from './events.js'

/** The warnings that a process emits once, each for a likely mistake that no option reveals. */
const WARNINGS = {
  proxyUnknown:
    'A request has the header X-Forwarded-For, but "trust proxy" is not set. If the app runs behind a proxy, all its users share one address and its failed-login limits. Set "trust proxy". If not, a client sent the header itself, and nothing is wrong',
  anyProxy:
    'The setting "trust proxy" is true, so each client can choose its address with the header X-Forwarded-For, and evade the failed-login limits. Set "trust proxy" to the number of your proxies',
  longToken:
    'A token is longer than 4,096 characters. By default nginx refuses a header line of more than 8 kB, and Node refuses headers of more than 16 kB in total. Put fewer claims and scopes into accounts',
}

const emitted = new Set<string>()

export function warnOnce(name: keyof typeof WARNINGS): void {
  if (emitted.has(name)) return
  emitted.add(name)
  warn(`${WARNINGS[name]}. See ${PAGE.proxy}`)
}
