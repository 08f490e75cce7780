export type { BearerStrategyOptions } from './http/guard/options.js'
export { BearerStrategy, type BearerVerify } from './http/strategies/bearer-strategy.js'
export { LoginStrategy, type LoginVerify } from './http/strategies/login-strategy.js'
export type { LoginStrategyOptions } from './http/token-endpoint/options.js'
