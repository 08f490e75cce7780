import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import axios from 'axios'
import got from 'got'
import createFetchClient from 'openapi-fetch'
import { request } from 'undici'
import { PYTHON } from '../../support/services/python.js'

const run = promisify(execFile)

export async function byAxios(url, method, headers, data) {
  const response = await axios({
    url,
    method,
    headers,
    data,
    validateStatus: null,
    responseType: 'text',
    transformResponse: [],
  })
  return { status: response.status, headers: response.headers.toJSON(), body: response.data }
}

export async function byGot(url, method, headers, body) {
  const {
    statusCode,
    headers: received,
    body: text,
  } = await got(url, { method, headers, body, throwHttpErrors: false })
  return { status: statusCode, headers: received, body: text }
}

export async function byUndici(url, method, headers, body) {
  const response = await request(url, { method, headers, body })
  return { status: response.statusCode, headers: response.headers, body: await response.body.text() }
}

export async function byOpenApiFetch(url, method, headers, body) {
  const { origin, pathname } = new URL(url)
  const client = createFetchClient({ baseUrl: origin })
  const sent = { headers, parseAs: 'text', ...(body && { body: JSON.parse(body) }) }
  const { response, data, error } = await client[method](pathname, sent)
  // An error has been parsed as JSON when that was possible.
  const text = typeof error === 'object' ? JSON.stringify(error) : (data ?? error ?? '')
  return { status: response.status, headers: Object.fromEntries(response.headers), body: text }
}

export async function byCurl(url, method, headers, body) {
  const fields = Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`])
  const data = body === undefined ? [] : ['--data-binary', body]
  const { stdout } = await run('curl', [
    '--silent',
    '--show-error',
    '--include',
    '--request',
    method,
    ...fields,
    ...data,
    url,
  ])
  const end = stdout.indexOf('\r\n\r\n')
  const [head, text] = [stdout.slice(0, end), stdout.slice(end + 4)]
  const [status, ...lines] = head.split('\r\n')
  const received = lines.map((line) => [line.replace(/:.*/, '').toLowerCase(), line.replace(/^[^:]*: /, '')])
  return { status: Number(status.split(' ')[1]), headers: Object.fromEntries(received), body: text }
}

const REQUESTS = `
import json, requests, sys
url, method, headers, body = json.loads(sys.argv[1])
response = requests.request(method, url, headers=headers, data=body)
received = {name.lower(): value for name, value in response.headers.items()}
print(json.dumps({"status": response.status_code, "headers": received, "body": response.text}))
`

export async function byRequests(url, method, headers, body = null) {
  const { stdout } = await run(PYTHON, ['-c', REQUESTS, JSON.stringify([url, method, headers, body])])
  return JSON.parse(stdout)
}
