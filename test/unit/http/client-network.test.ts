import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { clientNetwork } from '../../../src/http/client-network.js'

afterEach(() => {
  vi.restoreAllMocks()
})

describe('a client address', () => {
  it.each([
    ...['192.0.2.1', '192.0.2.1:65535', '[64:ff9b::c000:201]', '::ffff:192.0.2.1', '::ffff:c000:201'],
    ...['[::ffff:192.0.2.1]:443', '64:ff9b::192.0.2.1', '64:FF9B::C000:201', '::ffff:0:192.0.2.1', '2002:c000:201::1'],
  ])('counts %s as the IPv4 address 192.0.2.1', (address) => {
    expect(clientNetwork(address)).toBe('192.0.2.1')
  })

  it.each([
    ['10.20.30.40:80', '10.20.30.40'],
    ['100.200.100.200:80', '100.200.100.200'],
    ['64:ff9b::255.255.255.255', '255.255.255.255'],
    ['1::ffff:1.2.3.4', '0001000000000000/64'],
    ['::1.2.3.4', '0000000000000000/64'],
    ['1:2:3:4:5:6:7::', '0001000200030004/64'],
    ['2002::1', '0.0.0.0'],
    ['64:ff9b::7f', '0.0.0.127'],
    ['2001:db8:1:2:3:4:5:6', '20010db800010002/64'],
    ['2001:DB8:0001:0002::1', '20010db800010002/64'],
    ['[2001:db8:1:2::1]', '20010db800010002/64'],
    ['[2001:db8:1:2::1]:443', '20010db800010002/64'],
    ['2001:db8:1:2::192.0.2.1', '20010db800010002/64'],
    ['fe80::1%eth0', 'fe80000000000000/64'],
    ['64:ff9b:1:2::192.0.2.1', '0064ff9b00010002/64'],
  ])('counts %s as %s', (address, network) => {
    expect(clientNetwork(address)).toBe(network)
  })

  it.each<unknown>([
    ...[undefined, null, 7, {}, ['192.0.2.1'], '', 'garbage', '1.2.3.4.5', '999.2.3.4', '0177.0.0.1', '0x7f.0.0.1'],
    ...['127.1', '2130706433', '::1.2.3.256', '::1.2.3.00004', '64:ff9b::1.2.3.256', '64:ff9b::0001.2.3.4'],
    ...['2001:db8::[1', '2001:db8::]1', 'x1.2.3.4:80', '1.2.3.4:80x', '64:ff9b::1.2.3.4a', '::ffff:1.2.3.4:80'],
  ])('counts %j as unknown', (address) => {
    expect(clientNetwork(address as string)).toBe('unknown')
  })

  it('reads the longest address that Node and proxies write', () => {
    const longest = `[0000:0000:0000:0000:0000:ffff:255.255.255.255%${'e'.repeat(16)}]:65535`
    expect(longest).toHaveLength(70)
    expect(clientNetwork(longest)).toBe('255.255.255.255')
  })

  it.each([
    ['digits, 15 kB', `:${'1'.repeat(15_000)}`],
    ['digits, 1 MB', `:${'1'.repeat(1_000_000)}`],
    ['colons, 1 MB', 'a:'.repeat(500_000)],
    ['an address behind zeros', `${'0'.repeat(70)}1.2.3.4`],
    ['an address with a long zone', `fe80::1%${'e'.repeat(70)}`],
  ])('runs no regular expression on longer text: %s', (_, address) => {
    const exec = vi.spyOn(RegExp.prototype, 'exec')
    const network = clientNetwork(address)
    const longest = Math.max(0, ...exec.mock.calls.map(([text]) => text.length))
    exec.mockRestore()
    expect({ network, longest }).toEqual({ network: 'unknown', longest: 0 })
  })

  it('counts every spelling of an IPv4 address as that address', () => {
    const byte = fc.integer({ min: 0, max: 255 })
    fc.assert(
      fc.property(byte, byte, byte, byte, (a, b, c, d) => {
        const dotted = `${a}.${b}.${c}.${d}`
        const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
        for (const prefix of ['::ffff:', '::ffff:0:', '64:ff9b::']) {
          expect(clientNetwork(prefix + dotted)).toBe(dotted)
          expect(clientNetwork(prefix + hex)).toBe(dotted)
        }
        expect(clientNetwork(`2002:${hex}::1`)).toBe(dotted)
      }),
    )
  })
})
