import {
  type CredentialsRequest,
  createTokenClient,
  TokenClientError,
  type TokenClientErrorCode,
} from 'express-token-endpoint/client'

const field = (name: string) => document.querySelector<HTMLInputElement>(`[name=${name}]`)?.value ?? ''

async function ask({ refused, signal }: CredentialsRequest) {
  document.body.classList.toggle('refused', !!refused)
  await new Promise((resolve) => document.forms[0]?.addEventListener('submit', resolve, { signal }))
  return { email: field('email'), password: field('password') }
}

const api = createTokenClient({
  url: location.origin,
  credentials: ask,
  interactive: true,
  fetch: window.fetch.bind(window),
  onStepUp: (response, { refused }) =>
    response.headers.has('WWW-Authenticate') && refused === false && { password: 'secret' },
})
const stop: () => void = api.onChange(({ expiresAt, error }) => {
  const code: TokenClientErrorCode | undefined = error instanceof TokenClientError ? error.code : undefined
  if (error?.code === 'refused') document.title = error.message
  document.title = code ?? new Date(expiresAt ?? 0).toISOString()
})
try {
  const body = new FormData()
  const response: Response = await api.fetch(new URL('/me', location.href), { method: 'POST', body })
  document.body.textContent = await response.text()
} catch (error) {
  if (error instanceof TokenClientError && error.retryAt) document.title = error.retryAt.toISOString()
}
stop()
