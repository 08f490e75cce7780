import { randomBytes } from 'node:crypto'
import { verify } from '@node-rs/bcrypt'
import express from 'express'
import jwt from 'jsonwebtoken'
import passport from 'passport'
import { ExtractJwt, Strategy as JwtStrategy } from 'passport-jwt'
import { Strategy as LocalStrategy } from 'passport-local'
import { EMAIL, hashed, listening } from './account.mjs'

export const MAPPING = { login: { path: '/login' }, token: { body: 'token' }, guarded: { path: '/profile' } }

/** The usual Express tutorial, from the examples of passport-local, passport-jwt and jsonwebtoken. Its secret is random. */
export async function createTutorial() {
  const secret = randomBytes(32).toString('hex')
  const users = [{ id: 1, email: EMAIL, password: await hashed() }]

  passport.use(
    new LocalStrategy({ usernameField: 'email' }, async (email, password, done) => {
      const user = users.find((one) => one.email === email)
      if (!user) return done(null, false)
      if (!(await verify(password, user.password))) return done(null, false)
      return done(null, user)
    }),
  )
  passport.use(
    new JwtStrategy(
      { jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(), secretOrKey: secret },
      (payload, done) => {
        const user = users.find(({ id }) => id === payload.sub)
        return done(null, user ?? false)
      },
    ),
  )

  const app = express()
  app.use(express.json())
  app.use(passport.initialize())
  app.post('/login', passport.authenticate('local', { session: false }), (req, res) => {
    const token = jwt.sign({ sub: req.user.id }, secret, { expiresIn: '1h' })
    res.json({ token })
  })
  app.get('/profile', passport.authenticate('jwt', { session: false }), (req, res) => {
    res.json({ id: req.user.id, email: req.user.email })
  })
  return app
}

if (process.argv[1] === import.meta.filename) {
  const app = await createTutorial()
  const server = app.listen(0, '127.0.0.1', () => listening(server.address().port))
}
