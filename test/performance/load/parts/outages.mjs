import { issuerOutage } from '../outages/issuer.mjs'
import { storeOutages } from '../outages/stores.mjs'

export const outages = {
  title: 'Outages of PostgreSQL, Redis and the issuer under load',
  async run() {
    return { verdicts: [...(await issuerOutage()), ...(await storeOutages())] }
  },
}
