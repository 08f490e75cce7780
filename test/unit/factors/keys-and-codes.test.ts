// Tests factors/{api-key,recovery-codes}.ts
import { describe, expect, it } from 'vitest'
import { apiKeyId, isApiKey, newApiKey } from '../../../src/factors/api-key.js'
import { isRecoveryCode, newRecoveryCodes, recoveryDigest } from '../../../src/factors/recovery-codes.js'

describe('an API key', () => {
  it('has a prefix, 160 bits and a checksum', () => {
    const keys = Array.from({ length: 100 }, newApiKey)
    expect(new Set(keys).size).toBe(100)
    for (const key of keys) {
      expect(key).toMatch(/^etk_[a-z2-7]{39}$/)
      expect(isApiKey(key)).toBe(true)
      expect(apiKeyId('https://api.example.com', key)).toMatch(/^[\w-]{43}$/)
      expect(apiKeyId('https://api.example.com', key)).not.toBe(apiKeyId('https://sandbox.example.com', key))
    }
  })

  it('with another character or length is none', () => {
    const key = newApiKey()
    for (let at = 0; at < key.length; at++) {
      const other = key[at] === 'a' ? 'b' : 'a'
      expect(isApiKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false)
    }
    for (const text of ['', key.slice(1), `${key}a`, key.toUpperCase(), ` ${key}`, `${key}\n`])
      expect(isApiKey(text)).toBe(false)
  })
})

describe('recovery codes', () => {
  it('are ten of 80 bits', () => {
    const codes = newRecoveryCodes()
    expect(new Set(codes).size).toBe(10)
    for (const code of codes) expect(code).toMatch(/^([a-z2-7]{4}-){3}[a-z2-7]{4}$/)
  })

  it('may be typed in other ways', () => {
    const [code = ''] = newRecoveryCodes()
    for (const typed of [code, code.toUpperCase(), code.replaceAll('-', ''), ` ${code.replaceAll('-', ' ')} `]) {
      expect(isRecoveryCode(typed)).toBe(true)
      expect(recoveryDigest(typed)).toBe(recoveryDigest(code))
    }
    expect(recoveryDigest(`${code.slice(0, -1)}${code.endsWith('a') ? 'b' : 'a'}`)).not.toBe(recoveryDigest(code))
    for (const wrong of ['', '123456', code.slice(1), `${code}a`, code.replace(/.$/, '1')])
      expect(isRecoveryCode(wrong)).toBe(false)
  })
})
