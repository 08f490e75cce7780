import { issuerOutage } from '../outages/issuer.mjs'
import { storeOutages } from '../outages/stores.mjs'

export const outages = {
  title: 'What the fleet stands on goes away and comes back, under load',
  async run() {
    return [...(await issuerOutage()), ...(await storeOutages())]
  },
}
