import { expect, it } from 'vitest'
import { isAccepted, requestsWith } from './synthetic.mjs'

it('creates requests with the tokens in turn', () => {
  const request = requestsWith(['a', 'b', 'c'])
  const headers = Array.from({ length: 4 }, () => request().headers.authorization)
  expect(headers).toEqual(['Bearer a', 'Bearer b', 'Bearer c', 'Bearer a'])
})

it('tells a token that is accepted from one that is refused, in whichever way', async () => {
  expect(await isAccepted((_req, _res, next) => next(), 'a')).toBe(true)
  expect(await isAccepted((_req, _res, next) => next(new Error('no')), 'a')).toBe(false)
  expect(await isAccepted((_req, res) => res.end(), 'a')).toBe(false)
})
