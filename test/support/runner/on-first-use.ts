import { createRequire } from 'node:module'
import expressPackage from 'express'
import jsonwebtokenPackage from 'jsonwebtoken'
import * as lruCachePackage from 'lru-cache'

/** Stands in for `on-first-use.cjs` of `src`, because Vitest replaces `express` only where it is imported. */
export const express = () => expressPackage
export const jsonwebtoken = () => jsonwebtokenPackage
export const lruCache = () => lruCachePackage
export const native = createRequire(import.meta.url)
