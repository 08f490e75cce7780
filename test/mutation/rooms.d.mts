interface Room {
  readonly mutate: string[]
  readonly tests: string[]
}

export const ROOMS: Readonly<Record<string, Room>>
