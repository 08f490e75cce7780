import type { DemoAccount } from '../data/demo.js'
import type { ClearingHouse } from './clearing-house.js'

const TOKEN_PATH = '/api/v2013/authentication/token'
const ADD_AN_ACCOUNT =
  'Add an account: npm run example -- account add EMAIL --scope statements:read --scope reports:read'

/** Returns the text that `npm start clearing-house` prints. */
export function welcomeToClearingHouse({ url, page, mailFolder }: ClearingHouse): string {
  return `The clearing-house API listens on ${url} (Ctrl-C stops it).\n${inBrowser(page, mailFolder)}`
}

/** Returns the text that `npm start reporting` prints. */
export function welcomeToReporting(url: string): string {
  return `The online reporting API listens on ${url} (Ctrl-C stops it).`
}

/** Returns the text that `npm start` prints. Its indented lines work in bash as they are. */
export function welcome({ url, page, demo, mailFolder }: ClearingHouse, reporting: string): string {
  const apis = `The clearing-house API listens on ${url}, the online reporting API on ${reporting} (Ctrl-C stops both).`
  const head = `${apis}\n${inBrowser(page, mailFolder)}`
  const [reader, scopeless] = [demo.find(({ scopes }) => scopes.length > 0), demo.find(({ scopes }) => !scopes.length)]
  if (!reader || !scopeless) return `${head}\n${ADD_AN_ACCOUNT}`
  return `${head}

Demo accounts. Everybody knows these passwords, so the app creates them only where no other machine can connect.

${demo.map(({ email, password, scopes }) => `  ${email}  ${password}  ${scopes.join(' ') || '(no scope)'}`).join('\n')}

Paste these lines into another terminal (bash):

  # Get a token: 200
  curl -i ${login(url, reader.email, reader.password)}

  # Save a token in a variable
  TOKEN=$(${tokenOf(url, reader)})

  # Read the statements of both clearing houses: 200
  curl -i -H "Authorization: Bearer $TOKEN" ${statements(url, 'north')}
  curl -i -H "Authorization: Bearer $TOKEN" ${statements(url, 'south')}

  # Read the daily totals from the reporting API: 200
  curl -i -H "Authorization: Bearer $TOKEN" ${reporting}/api/v2013/reports/daily-totals

  # Omit the token: 401
  curl -i ${statements(url, 'north')}

  # Send a wrong password: 403 with an empty body
  curl -i ${login(url, reader.email, 'wrong-password')}

  # Use the token of an account without the scope: 403
  curl -i -H "Authorization: Bearer $(${tokenOf(url, scopeless)})" ${statements(url, 'north')}
`
}

function inBrowser(page: string, mailFolder: string | undefined): string {
  const signIn = `Sign in with a browser: ${page}`
  return mailFolder === undefined
    ? signIn
    : `${signIn}\nRead the demo’s emails: ${page}mailbox (files in ${mailFolder})`
}

function statements(url: string, house: string): string {
  return `${url}/api/v2013/houses/${house}/statements`
}

function login(url: string, email: string, password: string): string {
  return `-H 'Content-Type: application/json' -d '${JSON.stringify({ email, password })}' ${url}${TOKEN_PATH}`
}

function tokenOf(url: string, { email, password }: DemoAccount): string {
  const read = `node -pe 'JSON.parse(require("fs").readFileSync(0)).authenticationToken'`
  return `curl -s ${login(url, email, password)} | ${read}`
}
