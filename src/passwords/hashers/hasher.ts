/**
 * One way to check a password. For a directory or another service, set `external` and store a reference instead of a hash
 * (`passwordHash: 'ldap:uid=…'`).
 */
export interface Hasher {
  /** Returns whether this hasher can check a stored hash. */
  accepts(hash: string): boolean
  /**
   * Checks a password against a hash that this hasher accepts. Only `true` is a match. When the method throws or exceeds the
   * router's `timeout`, the response is `503`. The password may be empty. Return false for it if you use a directory: directories
   * accept a bind without a password as anonymous (RFC 4513 section 5.1.2).
   */
  verify(password: string, hash: string): boolean | Promise<boolean>
  /** Makes a new hash that `accepts` accepts. A hasher without this method cannot be the first of the list. */
  hash?(password: string): string | Promise<string>
  /** Returns whether a hash of this hasher is weaker than its new hashes. Default: never. */
  outdated?(hash: string): boolean
  /**
   * True when another service stores the passwords, and the account has only a reference. A login then never replaces the
   * reference with a hash, because the hash would be a copy of the password. Default false.
   */
  readonly external?: boolean
}
