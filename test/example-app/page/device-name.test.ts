import { expect, test } from 'vitest'
import { deviceName } from '../../../example-app/page/device-name.js'

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

test.each([
  ['Laptop', CHROME, 'Laptop'],
  [null, CHROME, 'Chrome on Windows'],
  [null, `${CHROME} Edg/140.0.0.0`, 'Edge on Windows'],
  [
    null,
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Safari/604.1',
    'Safari on iOS',
  ],
  [null, 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  [null, 'curl/8.5', 'curl'],
  [null, 'node', 'Node.js'],
  [null, 'something else', 'Unknown device'],
  [null, null, 'Unknown device'],
])('the label %j and the User-Agent %j: %s', (label, userAgent, name) => {
  expect(deviceName(label, userAgent)).toBe(name)
})
