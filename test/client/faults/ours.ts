import { createTokenClient, type TokenClientOptions } from 'express-token-endpoint/client'
import type { Maker } from './fault.js'

const read = async (response: Response) => ({ status: response.status, body: await response.text() })

export const ours: Maker = {
  name: 'express-token-endpoint/client',
  hasCodes: true,
  make(options) {
    const api = createTokenClient(options as TokenClientOptions)
    return {
      call: async (path, call) => read(await api.fetch(path, { duplex: 'half', ...call } as RequestInit)),
      send: async (request) => read(await api.fetch(request)),
      token: (signal) => api.token({ signal }),
      signOut: api.signOut,
      close: api.close,
      onChange: api.onChange,
      shown: api,
    }
  },
}
