import type { KeyObject } from 'node:crypto'

type Json = Record<string, unknown>
export type SigningKey = string | Uint8Array | KeyObject

export const ISSUER: string
export const SECRET: string
export function encode(value: unknown): string
export function decode(part: string): Buffer
export function partsOf(token: string): { header: string; payload: string; signature: string }
export function headerOf(token: string): Json
export function decodePayload(token: string): Json
export function signatureOf(input: string, key?: SigningKey, alg?: string): Buffer
export function signParts(header: string, payload: string, key?: SigningKey, alg?: string): string
export function forge(header: unknown, payload: unknown, key?: SigningKey, alg?: string): string
export function goodParts(seconds?: number): { header: Json; payload: Json }
export function withOtherSignature(token: string, seed?: number): string
