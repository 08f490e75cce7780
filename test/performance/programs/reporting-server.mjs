// Another service that verifies the tokens with the issuer's public keys. Keys are cached for a shorter time than in the example's reporting
// API, because a test cannot wait an hour.
import express from 'express'
import { authOf, createTokenVerifier, remoteKeys, requireBearer } from 'express-token-endpoint'

const { issuer, jwksUrl, port, path, ...settings } = JSON.parse(process.argv[2])
const ignore = () => {}
const tokens = createTokenVerifier({ issuer, keys: remoteKeys(jwksUrl, { ...settings, onError: ignore }) })
const app = express()
app.get(path, requireBearer({ tokens, scope: 'reports:read', onEvent: ignore }), (req, res) => {
  res.json({ account: authOf(req).accountId })
})
app.listen(port, '127.0.0.1', () => process.send('started'))
process.on('disconnect', () => process.exit())
