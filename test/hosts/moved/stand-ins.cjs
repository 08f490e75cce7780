// Loads before a test of a moved app: the packages that this project does not install, and the functions that Jest gives to tests.
const assert = require('node:assert')
const Module = require('node:module')
const { join } = require('node:path')
const { after, before, beforeEach, test } = require('node:test')

const ROOT = join(__dirname, '../../..')
const fromRoot = Module.createRequire(join(ROOT, 'package.json'))
const express = fromRoot('express4')
const bcrypt = fromRoot('@node-rs/bcrypt')

/** A model like those of Sequelize: the prototype has accessors for the values in `dataValues`. */
function define(_name, columns, { hooks }) {
  const rows = []
  class Model {
    static async create(values) {
      const model = new Model()
      Object.assign(model.dataValues, values)
      await hooks.beforeCreate(model)
      if (rows.some(({ email }) => email === values.email)) throw new Error('Validation error')
      model.dataValues.id = rows.length + 1
      rows.push(model)
      return model
    }
    static findAll = async () => rows.filter(Boolean)
    static findOne = async ({ where }) => rows.find(({ email }) => email === where.email) ?? null
    static findByPk = async (id) => rows.find((row) => row.id === Number(id)) ?? null
    dataValues = {}
    get = () => this.dataValues
    update = async (values) => Object.assign(this.dataValues, values)
    destroy = async () => rows.splice(rows.indexOf(this), 1)
  }
  for (const column of ['id', ...Object.keys(columns)])
    Object.defineProperty(Model.prototype, column, {
      get() {
        return this.dataValues[column]
      },
      set(value) {
        this.dataValues[column] = value
      },
    })
  return Model
}

class Sequelize {
  static STRING = 'string'
  define = define
  authenticate = async () => {}
  drop = async () => {}
  sync = async () => {}
  close = async () => {}
}

function mapRoutes(routes, folder) {
  const router = express.Router()
  for (const [route, target] of Object.entries(routes)) {
    const [method, path] = route.split(' ')
    const [controller, name] = target.split('.')
    router[method.toLowerCase()](path, require(join(process.cwd(), folder, controller))()[name])
  }
  return router
}

const STAND_INS = {
  express,
  // That of Express 4: a request without a body has `{}`.
  'body-parser': { json: express.json, urlencoded: express.urlencoded },
  sequelize: Sequelize,
  'express-routes-mapper': mapRoutes,
  'bcrypt-nodejs': {
    genSaltSync: () => undefined,
    hashSync: (password) => bcrypt.hashSync(password, 4),
    compareSync: (password, hash) => bcrypt.verifySync(password, hash),
  },
}
const load = Module._load
Module._load = function (name, parent, ...rest) {
  if (Object.hasOwn(STAND_INS, name)) return STAND_INS[name]
  if (!parent?.filename.startsWith(process.cwd()) || name.startsWith('.')) return load.call(this, name, parent, ...rest)
  if (name === 'express-token-endpoint') return require(join(ROOT, 'dist/index.cjs'))
  return fromRoot(name)
}

const expect = (value) => ({
  toBe: (expected) => assert.strictEqual(value, expected),
  toBeTruthy: () => assert.ok(value),
  toBeFalsy: () => assert.ok(!value),
})
Object.assign(globalThis, { test, expect, beforeAll: before, afterAll: after, beforeEach })
