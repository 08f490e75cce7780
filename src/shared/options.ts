export * from './options/checks.js'
export * from './options/read.js'
export { isPlainObject } from './values.js'
