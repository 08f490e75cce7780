import { expect, it } from 'vitest'
import { readPage } from '../../../support/documents/pages.js'
import { root } from '../../../support/documents/repository.js'
import { PAGES_WITH_TABLES, withoutRow, withTables } from '../../../support/documents/tables.js'

it.each(PAGES_WITH_TABLES)('the tables of %s are those of the comments in src', async (path) => {
  await expect(withTables(readPage(path)), 'Write the tables with: npm run docs:tables').toMatchFileSnapshot(
    root + path,
  )
})

it('each option that a host can name is in a table', () => expect(withoutRow()).toEqual([]))
