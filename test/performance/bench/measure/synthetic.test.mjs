import { describe, expect, it } from 'vitest'
import { isAccepted, microsecondsPerCall, requestsWith } from './synthetic.mjs'

const tokenOf = (req) => req.headers.authorization.slice('Bearer '.length)
const atOnce = (calls) => (req, _res, next) => {
  calls.push(tokenOf(req))
  next()
}
const later = (calls) => (req, _res, next) => {
  calls.push(tokenOf(req))
  queueMicrotask(next)
}

describe('requests without a server', () => {
  it.each([
    ['at once', atOnce],
    ['later', later],
  ])('go one by one through a guard that answers %s, with the tokens in turn', async (_, guardWith) => {
    const calls = []
    const requests = requestsWith(['a', 'b', 'c'])
    await microsecondsPerCall(guardWith(calls), requests, 1202)
    expect(calls.length).toBe(1202)
    expect(calls.slice(0, 4)).toEqual(['a', 'b', 'c', 'a'])
    expect(tokenOf(requests(1)[0])).toBe('c') // continues after the last token
  })

  it('never has two under way', async () => {
    let underWay = 0
    let most = 0
    const guard = async (_req, _res, next) => {
      most = Math.max(most, ++underWay)
      await undefined
      underWay--
      next()
    }
    await microsecondsPerCall(guard, requestsWith(['a']), 10)
    expect(most).toBe(1)
  })

  it('tells a token that is let through from one that is refused, in whichever way', async () => {
    expect(await isAccepted((_req, _res, next) => next(), 'a')).toBe(true)
    expect(await isAccepted((_req, _res, next) => next(new Error('no')), 'a')).toBe(false)
    expect(await isAccepted((_req, res) => res.end(), 'a')).toBe(false)
  })

  it('fails when a guard refuses while it is measured', async () => {
    await expect(microsecondsPerCall((_req, res) => res.end(), requestsWith(['a']), 1)).rejects.toThrow('refused')
  })
})
