import type { HouseStatements, HouseTotals } from '../calls.js'
import { centsOf, moneyText } from '../money.js'
import { element } from './dom.js'

export function statementsTable({ house, statements }: HouseStatements): HTMLElement {
  const sum = statements.reduce((cents, { amountCents }) => cents + BigInt(amountCents), 0n)
  return table(
    house.name,
    ['Day', 'Description', 'Amount'],
    statements.map(({ day, description, amountCents }) => [day, description, BigInt(amountCents)]),
    ['Sum', '', sum],
  )
}

/** Creates a table with a row for each day and a column for each house. */
export function totalsTable(houses: readonly HouseTotals[]): HTMLElement {
  const days = [...new Set(houses.flatMap(({ days }) => days.map(({ day }) => day)))].sort()
  const totalOf = (house: HouseTotals, wanted: string) => {
    const found = house.days.find(({ day }) => day === wanted)
    return found ? centsOf(found.total) : '–'
  }
  return table(
    'Daily totals',
    ['Day', ...houses.map(({ name }) => name)],
    days.map((day) => [day, ...houses.map((house) => totalOf(house, day))]),
  )
}

/** Amounts are cents. */
type Cell = string | bigint

/** Creates a table. The first cell of a row is its heading. Headings of amounts are aligned like amounts. */
function table(caption: string, head: readonly string[], rows: readonly Cell[][], foot?: readonly Cell[]): HTMLElement {
  const isAmount = (column: number) => [...rows, foot ?? []].some((row) => typeof row[column] === 'bigint')
  const rowOf = (cells: readonly Cell[]) =>
    element(
      'tr',
      {},
      ...cells.map((cell, column) => {
        const text = typeof cell === 'bigint' ? moneyText(cell) : cell
        if (column === 0) return element('th', { scope: 'row' }, text)
        return element('td', isAmount(column) ? { class: 'amount' } : {}, text)
      }),
    )
  const headings = head.map((text, column) =>
    element('th', { scope: 'col', ...(isAmount(column) && { class: 'amount' }) }, text),
  )
  return element(
    'table',
    {},
    element('caption', {}, caption),
    element('thead', {}, element('tr', {}, ...headings)),
    element('tbody', {}, ...rows.map(rowOf)),
    ...(foot ? [element('tfoot', {}, rowOf(foot))] : []),
  )
}
