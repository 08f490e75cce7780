import type { Express } from 'express'

export function createTutorial(): Promise<Express>
