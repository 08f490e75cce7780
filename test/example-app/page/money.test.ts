import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decimalOf } from '../../../example-app/data/reports.js'
import { centsOf, moneyText, wholeMoneyText } from '../../../example-app/page/money.js'

test.each([
  ['0.00', '0.00'],
  ['0.09', '0.09'],
  ['-0.05', '−0.05'],
  ['-425.00', '−425.00'],
  ['1237.50', '1,237.50'],
  ['999999.99', '999,999.99'],
  ['-1000000.00', '−1,000,000.00'],
  ['90071992547409930.07', '90,071,992,547,409,930.07'],
])('%s is shown as %s', (decimal, shown) => {
  expect(moneyText(centsOf(decimal))).toBe(shown)
})

test('without cents where there are none', () => {
  expect([0n, 100_000n, -50_000n, 150n].map(wholeMoneyText)).toEqual(['0', '1,000', '−500', '1.50'])
})

test.each(['', ' 1.00', '1.00 ', '1.00\n', ...'1 1.5 1.555 1,00 +1.00 −1.00 1e3 .50 NaN 0x1.00'.split(' ')])(
  '%j is no amount',
  (text) => {
    expect(() => centsOf(text)).toThrow(SyntaxError)
  },
)

test('every amount that the reporting API can tell comes through whole', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (cents) => {
      expect(centsOf(decimalOf(String(cents)))).toBe(cents)
    }),
  )
})

test('what is shown, without its commas and with a plain sign, is the amount', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (cents) => {
      const shown = moneyText(cents)
      expect(shown).toMatch(/^−?\d{1,3}(,\d{3})*\.\d\d$/)
      expect(centsOf(shown.replaceAll(',', '').replace('−', '-'))).toBe(cents)
    }),
  )
})
