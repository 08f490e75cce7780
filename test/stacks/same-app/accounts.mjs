/** The user table of each app: it is not counted, because every app has one. */
export const users = []
export const findByEmail = (email) => users.find((user) => user.email === email.toLowerCase())
export const findById = (id) => users.find((user) => user.id === id)
