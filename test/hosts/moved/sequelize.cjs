// Loads before a test of typescript-express-starter: the packages that this project does not install, as far as the app needs them.
const standIn = (name, make) => jest.mock(name, make, { virtual: true })

// The tests replace the methods of the model.
standIn('sequelize', () => ({
  Sequelize: class {
    authenticate() {}
    sync() {}
  },
  Model: Object.assign(class {}, { init() {}, destroy() {} }),
  DataTypes: { INTEGER: 'INTEGER', STRING: () => 'STRING' },
}))

const rules = []
const rule = (isValid, message) => () => (prototype, property) => {
  rules.push({ prototype, property, isValid, message })
}
standIn('class-validator', () => ({
  IsEmail: rule((value) => /^\S+@\S+$/.test(value), 'must be an email'),
  IsString: rule((value) => typeof value === 'string', 'must be a string'),
  validate: async (object) =>
    rules
      .filter(
        ({ prototype, property, isValid }) => object.constructor.prototype === prototype && !isValid(object[property]),
      )
      .map(({ property, message }) => ({ constraints: { rule: `${property} ${message}` } })),
}))
standIn('class-transformer', () => ({ plainToClass: (type, values) => Object.assign(new type(), values) }))

standIn('cookie-parser', () => () => (req, _res, next) => {
  req.cookies = Object.fromEntries((req.headers.cookie ?? '').split('; ').map((pair) => pair.split('=')))
  next()
})
standIn('hpp', () => () => (_req, _res, next) => next())
standIn('winston-daily-rotate-file', () => {
  const { transports } = require('winston')
  return class extends transports.Console {
    silent = true
  }
})
