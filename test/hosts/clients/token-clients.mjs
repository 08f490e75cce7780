import {
  bearerTokenAuthenticationPolicy,
  createDefaultHttpClient,
  createEmptyPipeline,
  createPipelineRequest,
} from '@azure/core-rest-pipeline'
import { OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client'
import axios from 'axios'
import { createAuthRefresh } from 'axios-auth-refresh'

/*
 * Other clients that renew tokens, each set up as its documentation says. None of them knows the token call of this specification, so
 * they share the ten lines of `signIn`.
 */

async function signIn(url, credentials) {
  const response = await fetch(`${url}/api/v2013/authentication/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(await credentials({ refused: false })),
  })
  if (!response.ok) throw new Error(`sign-in: ${response.status}`)
  const { authenticationToken, expiration } = await response.json()
  return { token: authenticationToken, expiresAt: Date.parse(expiration) }
}

const isAbsolute = (path) => /^https?:/.test(path)

const axiosAuthRefresh = {
  name: 'axios-auth-refresh',
  hasCodes: false,
  abilities: [],
  make({ url, credentials }) {
    let token
    let first
    const instance = axios.create({ baseURL: url, responseType: 'text', transformResponse: [] })
    instance.interceptors.request.use((config) => {
      if (token) config.headers.set('Authorization', `Bearer ${token}`)
      return config
    })
    const refresh = async () => {
      token = (await signIn(url, credentials)).token
    }
    createAuthRefresh(instance, async ({ response }) => {
      await refresh()
      response.config.headers.Authorization = `Bearer ${token}`
    })
    return {
      async call(path, { method = 'GET', body: data, signal } = {}) {
        // It knows no first sign-in, so the app has one.
        first ??= refresh().catch((error) => {
          first = undefined
          throw error
        })
        await first
        try {
          const response = await instance.request({ url: path, method, data, signal })
          return { status: response.status, body: response.data }
        } catch (error) {
          if (error.response) return { status: error.response.status, body: error.response.data }
          throw error
        }
      },
      shown: instance,
    }
  },
}

const read = async (response) => ({ status: response.status, body: await response.text() })

const oauth2Client = {
  name: '@badgateway/oauth2-client',
  hasCodes: false,
  abilities: ['send', 'token'],
  make({ url, credentials }) {
    const client = new OAuth2Fetch({
      client: new OAuth2Client({ clientId: 'client', server: url }),
      async getNewToken() {
        const { token, expiresAt } = await signIn(url, credentials)
        return { accessToken: token, expiresAt, refreshToken: null }
      },
    })
    return {
      call: async (path, init) =>
        read(await client.fetch(isAbsolute(path) ? path : url + path, { duplex: 'half', ...init })),
      send: async (request) => read(await client.fetch(request)),
      token: () => client.getAccessToken(),
      shown: client,
    }
  },
}

const azure = {
  name: '@azure/core-rest-pipeline',
  hasCodes: false,
  abilities: [],
  make({ url, credentials }) {
    const pipeline = createEmptyPipeline()
    const policy = bearerTokenAuthenticationPolicy({
      scopes: ['statements'],
      credential: {
        async getToken() {
          const { token, expiresAt } = await signIn(url, credentials)
          return { token, expiresOnTimestamp: expiresAt }
        },
      },
    })
    pipeline.addPolicy(policy)
    const http = createDefaultHttpClient()
    // The policy accepts https only, and the servers of the faults speak http.
    const transport = {
      sendRequest(request) {
        request.url = request.url.replace(/^https:/, 'http:')
        request.allowInsecureConnection = true
        return http.sendRequest(request)
      },
    }
    return {
      async call(path, { method = 'GET', body, signal } = {}) {
        const target = (isAbsolute(path) ? path : url + path).replace(/^http:/, 'https:')
        const request = createPipelineRequest({ url: target, method, body, abortSignal: signal })
        const { status, bodyAsText } = await pipeline.sendRequest(transport, request)
        return { status, body: bodyAsText ?? '' }
      },
      shown: pipeline,
    }
  },
}

export const PEERS = [axiosAuthRefresh, oauth2Client, azure]
