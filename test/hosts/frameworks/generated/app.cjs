// The layout of express-generator: CommonJS, one file for each router, and the error handler at the end.
const express = require('express')
const reportsRouter = require('./routes/reports.cjs')

module.exports = function createApp({ router, guard }) {
  const app = express()
  app.use(express.json())
  app.use(express.urlencoded({ extended: false }))
  app.use(router)
  app.use('/reports', guard, reportsRouter)
  app.use((_req, res) => res.sendStatus(404))
  app.use((error, _req, res, _next) => {
    res
      .status(error.status ?? 500)
      .set(error.headers)
      .json(error.toProblem?.() ?? {})
  })
  return app
}
