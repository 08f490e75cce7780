/** A client of either product, with its cookies and its own address. It is not counted. */

let last = 0

/** @returns a browser with an address that no other one has, unless you pass it */
export function openBrowser(url, address = `198.51.${Math.floor(++last / 250)}.${(last % 250) + 1}`) {
  const cookies = new Map()
  const headers = { 'X-Forwarded-For': address, Origin: url }
  const browser = {
    address,
    cookies,
    /** The header with a token. A product without tokens has none. */
    authorization: undefined,
    async send(method, path, body) {
      const response = await browser.open(method, path, body)
      return Object.assign(response, { text: await response.text() })
    },
    /** Sends a request, and leaves the body of the response to the caller. */
    async open(method, path, body, { authorization = browser.authorization } = {}) {
      const response = await fetch(new URL(path, url), {
        method,
        redirect: 'manual',
        headers: {
          ...headers,
          ...(body && { 'Content-Type': 'application/json' }),
          ...(cookies.size > 0 && { Cookie: [...cookies].map(([name, { value }]) => `${name}=${value}`).join('; ') }),
          ...(authorization && { Authorization: authorization }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      for (const line of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)
        const age = /max-age=(\d+)/i.exec(line)?.[1]
        if (value === '' || age === '0') cookies.delete(name)
        else cookies.set(name, { value, seconds: age && Number(age) })
      }
      return response
    },
    /** A copy with the same cookies and token, as a thief or another tab has them. */
    copy: () => Object.assign(openBrowser(url, address), { authorization: browser.authorization }).take(cookies),
    take(others) {
      for (const [name, cookie] of others) cookies.set(name, cookie)
      return browser
    },
  }
  return browser
}
