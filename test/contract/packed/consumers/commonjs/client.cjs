const { createTokenClient } = require('express-token-endpoint/client')

const [url] = process.argv.slice(2)
const { EMAIL: email, PASSWORD: password } = process.env
const api = createTokenClient({ url, credentials: () => ({ email, password }) })

async function main() {
  const response = await api.fetch('/me')
  process.stdout.write(await response.text())
}
main()
