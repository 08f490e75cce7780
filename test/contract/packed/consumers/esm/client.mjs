import { createTokenClient } from 'express-token-endpoint/client'

const [url] = process.argv.slice(2)
const { EMAIL: email, PASSWORD: password } = process.env
const api = createTokenClient({ url, credentials: () => ({ email, password }) })
const response = await api.fetch('/me')
process.stdout.write(await response.text())
