/**
 * Checks that the waiting networks are served in rounds: while one of them waits, no other is served twice. Then a request waits for at most
 * one request of each other network.
 */
export function createRounds() {
  /** The networks that were served since each waiting network was served, or began to wait. */
  const since = new Map<string, Set<string>>()

  return {
    /** Notes which networks wait now. */
    wait(waiting: ReadonlySet<string>): void {
      for (const network of since.keys()) if (!waiting.has(network)) since.delete(network)
      for (const network of waiting) if (!since.has(network)) since.set(network, new Set())
    },
    /** Notes that a request was served. Returns whether its network had to be served now. */
    serve(network: string, waiting: ReadonlySet<string>): boolean {
      this.wait(waiting)
      since.get(network)?.clear()
      let isFair = true
      for (const [other, served] of since) {
        if (other === network) continue
        if (served.has(network)) isFair = false
        served.add(network)
      }
      return isFair
    },
  }
}
