const real = { date: Date.now.bind(Date), steady: performance.now.bind(performance) }

/** Moves the client's clocks. The clocks of the servers and the timers stay as they are. */
export function moveClocks({ wall = 0, steady = 0 }: { wall?: number; steady?: number }): void {
  const [date, now] = [Date.now, performance.now]
  Date.now = () => date.call(Date) + wall
  performance.now = () => now.call(performance) + steady
}

export function restoreClocks(): void {
  Date.now = real.date
  performance.now = real.steady
}
