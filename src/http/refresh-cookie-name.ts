/**
 * The name of the cookie. Browsers accept the prefix only with `Secure` (RFC 6265bis section 4.1.3.1). Not `__Host-`, which would send the
 * cookie with every request of the host.
 */
export const REFRESH_COOKIE = '__Secure-refresh'
