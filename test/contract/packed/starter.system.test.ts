import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { NO_CHROMIUM, startBrowser } from '../../support/services/chromium.js'
import { freePort } from '../../support/services/servers/free-port.mjs'
import { install, npm, type Packed, pack, tempFolder } from './pack.js'

const PASSWORD = 'green tea at half past four'

let temporary: Awaited<ReturnType<typeof tempFolder>>
/** The copy of the starter in which the tarball is installed. */
let folder: string
let packed: Packed
let files: [name: string, text: string][]

beforeAll(async () => {
  temporary = await tempFolder('starter')
  packed = await pack(temporary.folder)
  files = [...packed.files].filter(([name]) => name.startsWith('example-app/starter/'))
  folder = join(temporary.folder, 'my-app')
  await cp(join(temporary.folder, 'package/example-app/starter'), folder, { recursive: true })
  await install(folder, [packed.tarball])
}, 600_000)
afterAll(() => temporary.remove())

describe('the starter in the tarball', () => {
  it('has at most 150 lines', () => {
    expect(
      files.map(([, text]) => text.split('\n').length - 1).reduce((sum, lines) => sum + lines),
    ).toBeLessThanOrEqual(150)
  })

  it('depends on the version that it ships with', () => {
    const [, text = ''] = files.find(([name]) => name.endsWith('/package.json')) ?? []
    expect(JSON.parse(text).dependencies['express-token-endpoint']).toBe(`^${packed.manifest.version}`)
  })

  it('passes its own tests', async () => {
    expect(await npm(folder, 'test')).toMatch(/^(# |ℹ )pass 1$/m)
  })

  it.skipIf(NO_CHROMIUM)(
    'signs a user up with the printed link, keeps the user signed in, and resets the password',
    async () => {
      const port = await freePort()
      const env = { PATH: process.env['PATH'], PORT: `${port}` }
      const server = spawn(process.execPath, ['server.js'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
      onTestFinished(async () => {
        server.kill()
        await once(server, 'close')
      })
      const printed = createInterface(server.stdout)[Symbol.asyncIterator]()
      const nextLine = async (): Promise<string> => (await printed.next()).value
      expect(await nextLine()).toBe(`Open http://localhost:${port}`)
      const secret = await readFile(join(folder, 'data/secret'), 'utf8')
      expect(secret).toMatch(/^[\w-]{43}$/)
      // The database has password hashes.
      for (const name of ['data', 'data/secret']) expect((await stat(join(folder, name))).mode & 0o077).toBe(0)
      expect(await readFile(join(folder, 'data/.gitignore'), 'utf8')).toBe('*\n')

      const page = await (await startBrowser()).newPage()
      const press = (name: string) => page.getByRole('button', { name }).click()
      /** Returns the link of the next mail of a kind. */
      async function link(kind: string): Promise<string> {
        const [, url = ''] = new RegExp(`^Mail to alice@example.com: ${kind} (http:\\S+)$`).exec(await nextLine()) ?? []
        return url
      }
      const choose = async (password: string) => {
        await page.getByLabel('New password').fill(password)
        await press('Save')
      }
      const isHome = () => page.getByText('You are signed in as alice@example.com.').waitFor()

      await page.goto(`http://localhost:${port}/`)
      await page.getByLabel('Email').fill('alice@example.com')
      await press('Sign up')
      await page.getByText('Open the link in the mail.').waitFor()
      await page.goto(await link('sign-up'))
      await choose(PASSWORD)
      await isHome()
      await page.reload()
      await isHome()
      await press('Sign out')
      await page.getByLabel('Email').fill('Alice@example.com')
      await page.getByLabel('Password', { exact: true }).fill('a wrong password')
      await press('Sign in')
      await page.getByText('Wrong email address or password.').waitFor()
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await press('Sign in')
      await isHome()

      await press('Sign out')
      await page.getByLabel('Email').fill('alice@example.com')
      await press('Forgot password')
      await page.goto(await link('password-reset'))
      await choose(`another ${PASSWORD}`)
      await page.getByText('Sign in with your new password.').waitFor()
      await page.getByLabel('Email').fill('alice@example.com')
      await page.getByLabel('Password', { exact: true }).fill(`another ${PASSWORD}`)
      await press('Sign in')
      await isHome()
      expect(await readFile(join(folder, 'data/secret'), 'utf8')).toBe(secret)
    },
  )
})
