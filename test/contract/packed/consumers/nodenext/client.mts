import { createTokenClient, type TokenClient } from 'express-token-endpoint/client'

const [url = ''] = process.argv.slice(2)
const { EMAIL: email = '', PASSWORD: password = '' } = process.env
const api: TokenClient = createTokenClient({ url, credentials: () => ({ email, password }) })
const response: Response = await api.fetch('/me', { signal: AbortSignal.timeout(60_000) })
process.stdout.write(await response.text())
