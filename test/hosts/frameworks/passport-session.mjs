import express from 'express'
import session from 'express-session'
import { authOf } from 'express-token-endpoint'
import { Passport } from 'passport'

/** A route that takes a session or a token. `/session/:id` signs in to a session, as a form would. */
export function withSessions({ router, guard, accounts }) {
  const passport = new Passport()
  passport.serializeUser((user, done) => done(null, user.id))
  passport.deserializeUser((id, done) => {
    Promise.resolve(accounts.findById(id)).then((user) => done(null, user ?? false), done)
  })
  const app = express().use(router)
  app.use(session({ secret: 'a secret of the session', resave: false, saveUninitialized: false }), passport.session())
  app.post('/session/:id', (req, res, next) =>
    req.logIn({ id: req.params.id }, (error) => (error ? next(error) : res.end())),
  )

  app.get('/reports', guard, (req, res) => res.json({ account: authOf(req).accountId, user: req.user?.id }))

  const sessionOrToken = (req, res, next) =>
    req.isAuthenticated() && !req.headers.authorization ? next() : guard(req, res, next)
  app.get('/either', sessionOrToken, (req, res) => res.json({ user: req.user?.id, account: req.auth?.accountId }))
  return { app }
}
