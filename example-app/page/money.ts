/** Amounts are whole cents as `bigint`, so that large amounts are exact. */

/**
 * Reads an amount as cents.
 * @param decimal a decimal number with two places, like `-425.00`
 * @throws SyntaxError for anything else
 */
export function centsOf(decimal: string): bigint {
  if (!/^-?\d+\.\d\d$/.test(decimal)) throw new SyntaxError('an amount must have two decimal places')
  return BigInt(decimal.replace('.', ''))
}

/** Formats an amount: `−1,250.00`. */
export function moneyText(cents: bigint): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0')
  return `${cents < 0n ? '−' : ''}${grouped(digits.slice(0, -2))}.${digits.slice(-2)}`
}

/** Formats an amount without cents: `−1,250`. */
export function wholeMoneyText(cents: bigint): string {
  return cents % 100n === 0n ? moneyText(cents).slice(0, -3) : moneyText(cents)
}

function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',')
}
