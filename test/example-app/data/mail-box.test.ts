import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openMailBox } from '../../../example-app/data/mail-box.js'
import { tempDir } from '../support.js'

const LETTER = {
  to: 'alice@example.com',
  subject: 'Sign in',
  text: 'Open the link.',
  link: 'http://localhost/#sign-in=c',
}

/** Stops the clock, and returns a function that opens the mailbox of a folder. */
async function setUp() {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2031, 0, 1) })
  onTestFinished(() => void vi.useRealTimers())
  const dataDir = await tempDir()
  return { open: () => openMailBox(dataDir), folder: join(dataDir, 'mails') }
}

test('keeps each mail as a private file of JSON, which another process lists, newest first', async () => {
  const { open, folder } = await setUp()
  const box = open()
  expect(box.folder).toBe(folder)
  expect(box.list()).toEqual([])
  box.add(LETTER)
  vi.setSystemTime(Date.now() + 1)
  box.add({ to: 'bob@example.com', subject: 'Notice', text: 'x' })
  expect(open().list()).toEqual([
    { to: 'bob@example.com', subject: 'Notice', text: 'x', sentAt: '2031-01-01T00:00:00.001Z' },
    { ...LETTER, sentAt: '2031-01-01T00:00:00.000Z' },
  ])
  const [first = ''] = readdirSync(folder).sort()
  expect(JSON.parse(readFileSync(join(folder, first), 'utf8'))).toMatchObject(LETTER)
  for (const place of ['.', ...readdirSync(folder)]) expect(statSync(join(folder, place)).mode & 0o077).toBe(0)
})

test('keeps the newest hundred mails, and leaves other files alone', async () => {
  const { open, folder } = await setUp()
  const box = open()
  writeFileSync(join(folder, 'notes.txt'), '')
  for (let i = 0; i < 103; i++) {
    vi.setSystemTime(Date.UTC(2031, 0, 1) + i)
    box.add({ ...LETTER, text: `${i}` })
  }
  const texts = box.list().map(({ text }) => Number(text))
  expect([texts.length, texts[0], texts.at(-1)]).toEqual([100, 102, 3])
  expect(readdirSync(folder)).toContain('notes.txt')
  expect(readdirSync(folder)).toHaveLength(101)
})
