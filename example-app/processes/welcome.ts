import type { DemoAccount } from '../data/demo.js'

const TOKEN_PATH = '/api/v2013/authentication/token'

export interface Urls {
  clearingHouse: string
  reporting: string
  page: string
}

/** What one API that is started alone prints. */
export function welcomeToOne(title: string, url: string, page?: string): string {
  const head = `The ${title} listens on ${url} (Ctrl-C stops it).`
  return page === undefined ? head : `${head}\n${inBrowser(page)}`
}

/** What `npm start` prints. Its indented lines are to be pasted into bash as they are. */
export function welcome({ clearingHouse: url, reporting, page }: Urls, demo: readonly DemoAccount[]): string {
  const apis = `The clearing-house API listens on ${url}, the online reporting API on ${reporting} (Ctrl-C stops both).`
  const head = `${apis}\n${inBrowser(page)}`
  const [reader, scopeless] = [demo.find(({ scopes }) => scopes.length > 0), demo.find(({ scopes }) => !scopes.length)]
  if (!reader || !scopeless) return `${head}\n${ADD_AN_ACCOUNT}`
  return `${head}

Demo accounts, only because nobody but this machine can reach this address: anyone can read their passwords here.

${demo.map(({ email, password, scopes }) => `  ${email}  ${password}  ${scopes.join(' ') || '(no scope)'}`).join('\n')}

To paste into another terminal (bash):

  # Get a token: 200
  curl -i ${login(url, reader.email, reader.password)}

  # Keep one in a variable
  TOKEN=$(${tokenOf(url, reader)})

  # With it, the statements of both clearing houses: 200
  curl -i -H "Authorization: Bearer $TOKEN" ${statements(url, 'north')}
  curl -i -H "Authorization: Bearer $TOKEN" ${statements(url, 'south')}

  # And their daily totals, from the other API: 200
  curl -i -H "Authorization: Bearer $TOKEN" ${reporting}/api/v2013/reports/daily-totals

  # Without a token: 401
  curl -i ${statements(url, 'north')}

  # With a wrong password: 403 and nothing else
  curl -i ${login(url, reader.email, 'wrong-password')}

  # With the token of an account that lacks the scope: 403
  curl -i -H "Authorization: Bearer $(${tokenOf(url, scopeless)})" ${statements(url, 'north')}
`
}

const ADD_AN_ACCOUNT = 'Add an account: npm run account -- add EMAIL --scope statements:read --scope reports:read'

function inBrowser(page: string): string {
  return `To sign in with a browser: ${page}`
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
