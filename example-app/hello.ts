import { randomBytes } from 'node:crypto'
import express from 'express'
import { createAuth, createPasswords, memoryAccounts } from 'express-token-endpoint'

const port = Number(process.env['PORT'] || 3000)
const passwordHash = await createPasswords().hash('correct horse')
const auth = createAuth({
  issuer: `http://localhost:${port}`,
  keys: { alg: 'HS256', secret: randomBytes(32).toString('hex') }, // New at every start, which revokes all tokens.
  accounts: memoryAccounts([{ id: 'acc-1', email: 'alice@example.com', passwordHash }]),
})

const app = express()
app.use(auth.router)
app.get('/hello', auth.guard(), (req, res) => {
  res.json({ hello: auth.userOf(req).email })
})

app.listen(port, '127.0.0.1', (error) => {
  if (error) throw error
  process.stdout.write(`Paste these lines into another terminal (bash):

TOKEN=$(curl -s localhost:${port}/api/v2013/authentication/token -d 'email=alice@example.com&password=correct horse' |
  node -pe 'JSON.parse(require("fs").readFileSync(0)).authenticationToken')
curl -i localhost:${port}/hello -H "Authorization: Bearer $TOKEN"\n`)
})
