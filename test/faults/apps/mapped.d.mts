import type { Express } from 'express'

export const HERE: string
export const USER: { id: string; email: string; password: string }
/** The file of the mapping. */
export const MAPPING: string
export function createApp(issuer: string, limit?: number): Express
