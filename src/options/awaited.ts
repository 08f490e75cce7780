import { type Message, misuse, type Subject } from './misuse.js'
import { bare } from './values.js'

/**
 * Returns a function whose promises refuse to become JSON: `res.json(run())` without `await` would send `{}`, and would send it before the
 * function has done its work.
 */
export function awaited<A extends readonly unknown[], T>(subject: Subject, run: (...args: A) => Promise<T>) {
  return (...args: A): Promise<T> => {
    const promise = run(...args)
    const toJSON = () => {
      // Its rejection would end the process after the error of this mistake.
      promise.catch(() => {})
      throw misuse(`${subject}: the result is a promise. Write "await" before the call` as Message)
    }
    return Object.defineProperty(promise, 'toJSON', bare({ value: toJSON }))
  }
}
