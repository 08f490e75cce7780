import { createRequire } from 'node:module'

/** Returns the version of this package. */
export const version = (): string => createRequire(import.meta.url)('express-token-endpoint/package.json').version
