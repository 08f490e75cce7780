/** Returns bytes, which reads the size of a body. */
export function bytes(): typeof import('bytes')

/** Returns content-type, which reads the media type of a body. */
export function contentType(): typeof import('content-type')

/** Returns Express, the copy that the host uses. */
export function express(): typeof import('express')

/** Returns jsonwebtoken, which signs tokens. */
export function jsonwebtoken(): typeof import('jsonwebtoken')

/** Returns lru-cache, which holds the counts of the failed-login limits. */
export function lruCache(): typeof import('lru-cache')

/** Returns raw-body, which reads the bytes of a request. */
export function rawBody(): typeof import('raw-body')

/** Returns a native module, which hashes passwords. */
export function native(name: string): unknown
