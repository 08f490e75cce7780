/** The account of every stack. */
export const EMAIL = 'alice@example.com'
export const PASSWORD = 'Correct-horse-9-battery'
