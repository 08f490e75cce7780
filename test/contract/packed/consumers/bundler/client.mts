import { createTokenClient, type TokenClientOptions } from 'express-token-endpoint/client'

const [url = ''] = process.argv.slice(2)
const { EMAIL: email = '', PASSWORD: password = '' } = process.env
const options: TokenClientOptions = { url, credentials: () => ({ email, password }) }
const response = await createTokenClient(options).fetch(new Request(`${url}/me`))
process.stdout.write(await response.text())
