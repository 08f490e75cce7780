export interface Counts {
  passed: number
  failed: number
  skipped: number
}

export function countLine(counts: Counts): string
export function leaveCounts(file: string, counts: Counts): void
export function leftCounts(file: string): Counts
export function addCounts(all: readonly Counts[]): Counts
