import passport from 'passport'
import { ExtractJwt, Strategy } from 'passport-jwt'

const guardWith = (options) => {
  const instance = new passport.Passport()
  const strategy = new Strategy(
    { jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(), ...options },
    (payload, done) => done(null, { id: payload.sub }),
  )
  return instance.use(strategy).authenticate('jwt', { session: false })
}

export const passportJwt = ({ alg, issuer, audience, key, text }) => [
  {
    name: 'passport-jwt, KeyObject',
    guard: guardWith({ secretOrKey: key, algorithms: [alg], issuer, audience }),
  },
  {
    name: 'passport-jwt, as documented',
    guard: guardWith({ secretOrKey: text, issuer, audience }),
  },
]
