// The kinds of input. Each has a generator, a function that asks this package and its peers, and the classes of disagreement.
import body from './body.mjs'
import header from './header.mjs'
import keySet from './key-set.mjs'
import pem from './pem.mjs'
import token, { providerToken } from './token.mjs'

export const SUBJECTS = [token, providerToken, header, keySet, pem, body]
