import { createRequire } from 'node:module'
import bytesPackage from 'bytes'
import * as contentTypePackage from 'content-type'
import expressPackage from 'express'
import jsonwebtokenPackage from 'jsonwebtoken'
import * as lruCachePackage from 'lru-cache'
import rawBodyPackage from 'raw-body'

/** Stands in for `on-first-use.cjs` of `src`, because Vitest replaces `express` only where it is imported. */
export const bytes = () => bytesPackage
export const contentType = () => contentTypePackage
export const express = () => expressPackage
export const jsonwebtoken = () => jsonwebtokenPackage
export const lruCache = () => lruCachePackage
export const rawBody = () => rawBodyPackage
export const native = createRequire(import.meta.url)
