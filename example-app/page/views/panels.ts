import {
  type Device,
  dailyTotals,
  devicesOf,
  endDevice,
  type HouseStatements,
  type HouseTotals,
  type Outcome,
  statementsOf,
} from '../calls.js'
import { barChart } from '../chart/chart.js'
import type { PageClient } from '../client.js'
import { centsOf } from '../money.js'
import { byId, element } from './dom.js'
import { createPanel, type Panel } from './panel.js'
import { devicesTable, statementsTable, totalsTable } from './tables.js'

const HOUSES = ['north', 'south']

/** Creates the sections for an account: its data of each API, and its devices. */
export function createPanels(client: PageClient, reportingUrl: string | undefined, onRefused: () => void): Panel[] {
  const statements = createPanel<HouseStatements[]>({
    id: 'statements',
    what: 'statements',
    api: 'clearing-house API',
    load: async (signal) => allOf(await Promise.all(HOUSES.map((house) => statementsOf(client, house, signal)))),
    draw: (houses) => houses.map(statementsTable),
    onRefused,
  })
  const devices = createPanel<Device[]>({
    id: 'devices',
    what: 'devices',
    api: 'clearing-house API',
    load: (signal) => devicesOf(client, signal),
    draw: (list, signal) => [
      devicesTable(list, async ({ id }) => {
        // The button disappears.
        byId('devices-title', HTMLHeadingElement).focus()
        await endDevice(client, id, signal)
        // The list shows whether the session has ended.
        if (!signal.aborted) await devices.load(signal)
      }),
    ],
    onRefused,
  })
  if (reportingUrl === undefined) {
    const text = 'To see your daily totals, start both APIs with npm start, or set REPORTING_URL.'
    byId('totals-body', HTMLDivElement).append(element('p', { class: 'message', 'data-tone': 'note' }, text))
    return [statements, devices]
  }
  const totals = createPanel<HouseTotals[]>({
    id: 'totals',
    what: 'daily totals',
    api: 'online reporting API',
    load: (signal) => dailyTotals(client, reportingUrl, signal),
    draw: drawTotals,
    onRefused,
  })
  return [statements, totals, devices]
}

/** Joins the results. Returns only the first failure, because all results come from one server. */
function allOf<T>(outcomes: readonly Outcome<T>[]): Outcome<T[]> {
  const failed = outcomes.find((outcome) => 'failure' in outcome)
  return failed ?? { value: outcomes.flatMap((outcome) => ('value' in outcome ? [outcome.value] : [])) }
}

function drawTotals(houses: HouseTotals[]): Node[] {
  if (houses.every(({ days }) => days.length === 0))
    return [element('p', { class: 'quiet' }, 'There are no totals yet.')]
  const series = houses.map(({ name, days }) => ({
    name,
    points: days.map(({ day, total }) => ({ day, cents: centsOf(total) })),
  }))
  const names = houses.map(({ name }) => name).join(' and ')
  return [
    barChart(series, `Bar chart of the daily totals of ${names}. The table below has the same amounts.`),
    element('details', {}, element('summary', {}, 'Show as a table'), totalsTable(houses)),
  ]
}
