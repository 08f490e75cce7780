import { MOST_ANNOUNCED, type RefreshState } from './refresh-state.js'
import { isOpenTag, type RefreshSigner } from './refresh-token.js'

/** The members of a session's state that say which password hashes its account may have. */
export type PasswordTags = Pick<RefreshState, 'passwordTag' | 'announced' | 'announcedAt'>

/** A better hash of the same password, which is going to replace the stored one. */
export interface HashChange {
  accountId: string
  from: string
  to: string
}

/** The time after which no account store still stores a hash that was announced, in milliseconds. */
const LATEST = 3_600_000

/** Returns whether the account of a session may have a password hash. Any other hash is of a changed password. */
export const acceptsHash = (signer: RefreshSigner, tags: PasswordTags, hash: string | null): boolean =>
  isOpenTag(tags.passwordTag) || [tags.passwordTag, ...tags.announced].some((tag) => signer.isTagOf(tag, hash))

/** Returns the tags of a session whose account was found with a hash that the session accepts. */
export function confirmHash(
  signer: RefreshSigner,
  { announced, announcedAt }: PasswordTags,
  hash: string | null,
): PasswordTags {
  const isAnnounced = announced.some((tag) => signer.isTagOf(tag, hash))
  // Hashes that were announced at the same time can no longer be stored: their compare and swap fails.
  return { passwordTag: signer.tagOf(hash), announced: isAnnounced ? [] : announced, announcedAt }
}

/**
 * Adds a hash that is going to be stored.
 * @returns the tags, undefined when nothing changes, or `'full'` when the session has three announced hashes, so that the new one must not be stored
 */
export function announceTo(
  signer: RefreshSigner,
  tags: PasswordTags,
  { from, to }: Pick<HashChange, 'from' | 'to'>,
  now: number,
): PasswordTags | undefined | 'full' {
  // A session of another password must not accept a hash of this one.
  if (!acceptsHash(signer, tags, from) || tags.announced.some((tag) => signer.isTagOf(tag, to))) return undefined
  if (signer.isTagOf(tags.passwordTag, to)) return undefined
  const { passwordTag, announced } = isOpenTag(tags.passwordTag) ? tags : confirmHash(signer, tags, from)
  const recent = Math.abs(now - tags.announcedAt) < LATEST ? announced : []
  if (recent.length >= MOST_ANNOUNCED) return 'full'
  return { passwordTag, announced: [...recent, signer.tagOf(to)], announcedAt: now }
}
