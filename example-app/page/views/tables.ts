import type { Device, HouseStatements, HouseTotals } from '../calls.js'
import { deviceName } from '../device-name.js'
import { centsOf, moneyText } from '../money.js'
import { element } from './dom.js'
import type { Owned } from './list-section.js'

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

const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })

/**
 * Creates a table with a row for each device.
 * @param onEnd called when the user ends the session of another device
 */
export function devicesTable(devices: readonly Device[], onEnd: (device: Device) => void): HTMLElement {
  const actionOf = (device: Device, name: string) => {
    if (device.current) return 'This device'
    const button = element('button', { type: 'button', 'aria-label': `End the session of ${name}` }, 'End')
    button.addEventListener('click', () => onEnd(device), { once: true })
    return button
  }
  return table(
    'Devices that are signed in',
    ['Device', 'Address', 'Last used', 'Session'],
    devices.map((device) => {
      const name = deviceName(device.label, device.userAgent)
      return [name, addressOf(device), TIME.format(new Date(device.lastUsedAt)), actionOf(device, name)]
    }),
  )
}

/**
 * Creates a table with a row for each passkey or API key.
 * @param onRemove called when the user removes an entry
 */
export function namedTable<T extends Owned>(
  caption: string,
  list: readonly T[],
  onRemove: (entry: T) => void,
): HTMLElement {
  return table(
    caption,
    ['Name', 'Last used', 'Remove'],
    list.map((entry) => {
      const name = entry.name ?? 'Without a name'
      const button = element('button', { type: 'button', 'aria-label': `Remove ${name}` }, 'Remove')
      button.addEventListener('click', () => onRemove(entry), { once: true })
      return [name, entry.lastUsedAt === null ? 'Never' : TIME.format(new Date(entry.lastUsedAt)), button]
    }),
  )
}

/** Returns the address, which a line may break after a colon: an IPv6 address is longer than a narrow column. */
function addressOf({ address }: Device): HTMLElement {
  const parts = (address ?? '–').split(/(?<=:)(?!:)/)
  return element('span', {}, ...parts.flatMap((part, i) => (i > 0 ? [element('wbr'), part] : [part])))
}

/** Amounts are cents. */
type Cell = string | bigint | HTMLElement

/**
 * Creates a table. The first cell of a row is its heading. Headings of amounts are aligned like amounts. The roles are explicit, because some
 * browsers drop those of rows and cells that are not displayed as a table on a narrow screen.
 */
function table(caption: string, head: readonly string[], rows: readonly Cell[][], foot?: readonly Cell[]): HTMLElement {
  const isAmount = (column: number) => [...rows, foot ?? []].some((row) => typeof row[column] === 'bigint')
  const rowOf = (cells: readonly Cell[]) =>
    element(
      'tr',
      { role: 'row' },
      ...cells.map((cell, column) => {
        const text = typeof cell === 'bigint' ? moneyText(cell) : cell
        if (column === 0) return element('th', { scope: 'row', role: 'rowheader' }, text)
        return element('td', { role: 'cell', ...(isAmount(column) && { class: 'amount' }) }, text)
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
