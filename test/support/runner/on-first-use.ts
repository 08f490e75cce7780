import bytesPackage from 'bytes'
import * as contentTypePackage from 'content-type'
import expressPackage from 'express'
import rawBodyPackage from 'raw-body'

/** Stands in for `src/http/on-first-use.cjs`, because Vitest replaces `express` only where it is imported. */
export const bytes = () => bytesPackage
export const contentType = () => contentTypePackage
export const express = () => expressPackage
export const rawBody = () => rawBodyPackage
