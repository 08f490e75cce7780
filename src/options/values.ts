import { isDate } from 'node:util/types'

/** Returns whether a value can be awaited: a promise, or another object with `then`, as Bluebird and query builders make them. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns whether a value is a `Date` that holds a time, from any realm. */
export function isValidDate(value: unknown): value is Date {
  return isDate(value) && !Number.isNaN(value.getTime())
}

/** Reads an own property, of parsed JSON for example. */
export function own<T extends object, K extends keyof T>(object: T, name: K): T[K] | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/**
 * Reads a property of a host's object. The object's class may provide the property, for example as a getter. A polluted
 * `Object.prototype` may not.
 */
export function memberOf(object: object, name: string): unknown {
  if (!(name in Object.prototype)) return (object as Record<string, unknown>)[name]
  for (let holder = object; holder && holder !== Object.prototype; holder = Object.getPrototypeOf(holder)) {
    if (Object.hasOwn(holder, name)) return (object as Record<string, unknown>)[name]
  }
  return undefined
}

/** Returns a copy of an object that inherits nothing. Used for options of other packages, and for members that may be absent. */
export function bare<T extends object>(members: T): T {
  return Object.assign(Object.create(null), members)
}

/** Returns the result of a function, or undefined when it throws. */
export function resultOrUndefined<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}

/** Calls a function without a use for its result. Its errors and rejections are ignored. */
export function ignoringErrors(run: () => unknown): void {
  try {
    Promise.resolve(run()).catch(() => {})
  } catch {
    // Ignored.
  }
}

/** Handles the rejection of a function that must not be asynchronous, because an unhandled one ends the process. */
export function ignoreRejection<T>(result: T): T {
  if (isThenable(result)) Promise.resolve(result).catch(() => {})
  return result
}

/** Parses JSON. Returns undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Returns the enumerable members of a host's object, which getters may compute. A member is undefined when its getter throws, and a promise
 * may reject later.
 */
export const membersOf = (object: object) =>
  Object.keys(object).map((name): [string, unknown] => {
    return [name, ignoreRejection(resultOrUndefined(() => (object as Record<string, unknown>)[name]))]
  })
