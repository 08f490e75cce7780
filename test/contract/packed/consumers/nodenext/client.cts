import { createTokenClient } from 'express-token-endpoint/client'

const [url = ''] = process.argv.slice(2)
const { EMAIL: email = '', PASSWORD: password = '' } = process.env
const api = createTokenClient({ url, credentials: async () => ({ email, password }) })

async function main(): Promise<void> {
  const me = `${url}/me`
  const response = await fetch(me, { headers: await api.headers({ url: me }) })
  process.stdout.write(await response.text())
}
main()
