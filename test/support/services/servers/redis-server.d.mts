import type { ChildProcess } from 'node:child_process'

export const HAS_REDIS: boolean
export const HOW_TO_GET_REDIS: string

export interface RedisServer {
  url: string
  port: number
  process: () => ChildProcess
  start(): Promise<void>
  /** Kills it as a power cut would. */
  kill(): Promise<void>
}

export function redisServer(options?: {
  dir?: string | undefined
  fsync?: 'always' | 'everysec' | undefined
}): Promise<RedisServer>
