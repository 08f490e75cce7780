/** An environment whose tokens are about so long, by a private claim that fills them up. */
export function sized(length, create) {
  const [shortest] = create({ filling: '' }).tokens(1)
  // Base64url makes four characters of three bytes.
  const missing = Math.max(0, Math.round(((length - shortest.length) * 3) / 4))
  return create({ filling: 'x'.repeat(missing) })
}
