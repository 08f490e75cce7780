import { messageOf } from '../../failure.js'

/** Tells once that a part went away and once that it is back, however often it is noticed. */
export function outageLog(part: string, log: (line: string) => unknown) {
  let away = false
  return {
    began(error: unknown): void {
      if (!away) log(`${part} is away: ${messageOf(error)}`)
      away = true
    },
    ended(): void {
      if (away) log(`${part} is back.`)
      away = false
    },
  }
}
