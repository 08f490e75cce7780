export const LONGEST_EMAIL = 320
export const isTooLong = (email: string) => email.length > LONGEST_EMAIL
