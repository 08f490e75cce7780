import { describe, expect, test } from 'vitest'
import { ROWS } from '../../../src/cli/check/rows.js'
import { soundParts } from './host.js'
import { check, FAULTS } from './planted.js'

test('everything holds of an app that mounts the package', async () => {
  const { report, fails, skipped, code } = await check(soundParts())
  expect({ fails, skipped, code, holds: report.holds }).toEqual({
    fails: [],
    // These rows are about secrets, cookies and limits, which this app does not have.
    skipped: ['guessable-secret', 'cookie-flags', 'guessing'],
    code: 0,
    holds: true,
  })
  expect(report.rows.map(({ id }) => id)).toEqual(ROWS.map(({ id }) => id))
})

describe('a planted fault is named, and nothing else', () => {
  test.each(Object.entries(FAULTS))('%s', async (_what, [fails, plant]) => {
    const sound = soundParts()
    const planted = plant(sound)
    const found = await check(
      { ...sound, ...planted },
      undefined,
      fails.some((id) => id.startsWith('recent-')),
    )
    // No row stumbles over what it was made for.
    expect(found.stdout).not.toContain('cannot be judged')
    expect(
      found.report.rows.filter(({ verdict }) => verdict === 'fails').map(({ id, detail }) => [id, detail]),
    ).toEqual(fails.map((id) => [id, expect.any(String)]))
    expect(found.code).toBe(1)
    expect(found.report.holds).toBe(false)
  })

  test('of two environments with one key and one issuer, both rows', async () => {
    const { fails } = await check(soundParts(), soundParts(), false)
    expect(fails).toEqual(['foreign-token', 'token-abroad'])
  })

  test('each row fails for one of them', () => {
    const named = Object.values(FAULTS).flatMap(([fails]) => fails)
    // check-mapping.test.ts has faults for the last two.
    expect(new Set([...named, 'token-abroad', 'cookie-flags', 'guessing'])).toEqual(new Set(ROWS.map(({ id }) => id)))
  })

  test('the route left unguarded is named', async () => {
    const sound = soundParts()
    const { report } = await check({ ...sound, guards: [sound.guards[0], []] })
    expect(report.rows.find(({ id }) => id === 'guarded')?.detail).toBe(
      '/reports: not guarded: a request without a token gets 200',
    )
  })
})
