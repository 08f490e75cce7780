import { EXPRESS_JWT, inTurn, OURS, OURS_CHECK, WRAPPED } from '../names.mjs'
import { PAGE_LINE, putBetween } from './page.mjs'
import { digits } from './report.mjs'

const DOCUMENTED = 'express-jwt, as documented'

const named = (rows, name) => rows.find((row) => row.name === name)
const percent = ({ ratio }) => Math.round(ratio.median * 100)

/** Returns the lowest and the highest share of a guard, as in '95 to 96 %'. */
function range(algorithms, name) {
  const shares = algorithms.map((rows) => percent(named(rows, name)))
  const [low, high] = [Math.min(...shares), Math.max(...shares)]
  return low === high ? `${low} %` : `${low} to ${high} %`
}

/** Returns how many times as many checks as the fastest other package, as in '2.90 times … `argon2`'. */
function checks(rows, kind) {
  const others = rows.filter(({ name }) => name !== OURS_CHECK && name !== WRAPPED)
  const fastest = others.reduce((most, row) => (row.ratio.median > most.ratio.median ? row : most))
  return `${digits(1 / fastest.ratio.median)} times as many ${kind} hashes per second as \`${fastest.name}\``
}

/** The lines that a part has in the summary. */
const LINES_OF = {
  http({ rows, newTokens }) {
    const algorithms = Object.values(rows)
    return [
      `- **Over HTTP**, a guarded route keeps ${range(algorithms, OURS)} of the throughput that it has without a guard. With express-jwt at its`,
      `  best, a route keeps ${range(algorithms, EXPRESS_JWT)}. With express-jwt as its README documents it, a route keeps ${percent(named(rows.HS256, DOCUMENTED))} % (HS256).`,
      `- **New tokens** are verified. When every request has a new token, a guarded route keeps ${percent(named(newTokens, OURS))} %. With`,
      `  express-jwt at its best, the route then keeps ${percent(named(newTokens, EXPRESS_JWT))} %.`,
    ]
  },
  guard({ rows }) {
    const time = (name) => `${digits(named(rows, name).median)} µs`
    return [
      `- **In process**, a call takes ${time(OURS)} for a token that was verified before. With 1,000 such tokens in turn, a call takes`,
      `  ${time(inTurn(OURS, 1000))}. With a new token, a call takes ${time(inTurn(OURS, 100_000))}.`,
    ]
  },
  logins: ({ rows: { argon2, bcrypt } }) => [
    '- **A login** takes about as long as its password check. This package checks',
    `  ${checks(argon2, 'argon2id')}, and ${checks(bcrypt, 'bcrypt')}.`,
  ],
  start({ rows: { time, rss } }) {
    const share = (name) => digits(named(time, name).ratio.median)
    const megabytes = (name) => Math.round(named(rss, name).median)
    const express = megabytes('Express and an app')
    const added = megabytes('Express, an app with the token router and a guard') - express
    return [
      `- **Cold start:** importing the package takes ${share('the package')} times as long as importing Express. Starting a service that only`,
      `  verifies tokens takes ${share('a service that only verifies tokens')} times as long.`,
      `- **Memory at idle:** an Express app uses ${express} MB. The token router and a guard add ${added} MB.`,
    ]
  },
}

/** Puts the summary of the first line of Node between its marks. A part that was not measured has no lines. */
export function withSummary(page, results) {
  const measured = results[PAGE_LINE] ?? {}
  const lines = Object.entries(LINES_OF).flatMap(([part, linesOf]) => (measured[part] ? linesOf(measured[part]) : []))
  return putBetween(page, `npm run bench -- --node ${PAGE_LINE}`, [lines.join('\n')])
}
