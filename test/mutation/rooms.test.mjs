import { readdirSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { expect, it } from 'vitest'
import { ROOMS } from './rooms.mjs'
import { readSurvivors } from './survivors.mjs'

/**
 * The command, the client and the kit for tests do not run in a server, except the part of the client for servers that render pages. A file at
 * the top of `src` only exports.
 */
const NOT_IN_A_SERVER = /^src\/(cli|testing)\/|^src\/client\/(?!refresh-on-server\.)|^src\/[^/]+$/

const filesOf = (folder) => readdirSync(folder, { recursive: true }).map((path) => `${folder}/${path}`)
const matching = (paths, patterns) => patterns.flatMap((pattern) => paths.filter((path) => matchesGlob(path, pattern)))
const source = filesOf('src').filter((path) => path.endsWith('.ts'))

it('has each source file of a server in one room', () => {
  const inRooms = Object.values(ROOMS).flatMap(({ mutate }) => matching(source, mutate))
  const shipped = source.filter((path) => !NOT_IN_A_SERVER.test(path))
  expect(inRooms.toSorted()).toEqual(shipped.toSorted())
})

const paths = filesOf('test').filter((path) => path.endsWith('.test.ts'))
it.each(Object.entries(ROOMS))('finds tests for the room %s', (_, { tests }) => {
  for (const pattern of tests) expect(matching(paths, [pattern]), pattern).not.toEqual([])
})

it('explains only survivors whose line is in their file', () => {
  expect(readSurvivors().length).toBeGreaterThan(0)
})
