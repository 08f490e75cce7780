import { messageOf } from '../../errors.js'

/** Logs the start and the end of an outage once each. */
export function outageLog(name: string, log: (line: string) => unknown) {
  let down = false
  return {
    began(error: unknown): void {
      if (!down) log(`${name} is unreachable: ${messageOf(error)}`)
      down = true
    },
    ended(): void {
      if (down) log(`${name} is back.`)
      down = false
    },
  }
}
