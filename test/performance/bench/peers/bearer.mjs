const REFUSED = new Error('refused')

/**
 * The least middleware that a verifying function can stand in: what its user would write by hand.
 * @param verify token → claims, or throws
 */
export const bearer = (verify) =>
  function bearerMiddleware(req, _res, next) {
    const header = req.headers.authorization
    if (!header?.startsWith('Bearer ')) return next(REFUSED)
    try {
      req.auth = verify(header.slice(7))
    } catch (error) {
      return next(error)
    }
    next()
  }
