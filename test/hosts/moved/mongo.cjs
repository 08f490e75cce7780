// Loads before a test of an app with Mongoose 5: a database in the memory of the process, in place of the driver's connection.
const { EventEmitter } = require('node:events')
const { existsSync, readdirSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')

const inApp = createRequire(join(process.cwd(), 'index.js'))
const { MongoClient } = inApp('mongodb')
const sift = inApp('sift').default

/** A method of the driver's collection, which takes a callback or returns a promise. */
function driverMethod(work) {
  return (...args) => {
    const callback = typeof args.at(-1) === 'function' ? args.pop() : undefined
    const done = new Promise((resolve) => resolve(work(...args)))
    return callback ? void done.then((value) => callback(null, value), callback) : done
  }
}

/** Returns a copy with the members that a projection like `{ name: 1 }` or `{ password: 0 }` names. */
function projected(document, { projection = {} } = {}) {
  const isListed = Object.values(projection).includes(1)
  const isShown = (name) => (isListed ? name === '_id' || projection[name] === 1 : projection[name] !== 0)
  return document && Object.fromEntries(Object.entries(document).filter(([name]) => isShown(name)))
}

function compare(one, other, sort) {
  for (const [name, sign] of Object.entries(sort))
    if (one[name] !== other[name]) return one[name] < other[name] ? -sign : sign
  return 0
}

/** The methods that the moved apps call. */
function createCollection() {
  let documents = []
  const matching = (filter = {}) => documents.filter(sift(filter))
  const remove = (removed) => {
    documents = documents.filter((document) => !removed.includes(document))
    return { result: { n: removed.length }, deletedCount: removed.length }
  }
  const methods = {
    createIndex: () => 'index',
    countDocuments: (filter) => matching(filter).length,
    estimatedDocumentCount: () => documents.length,
    findOne: (filter, options) => projected(matching(filter)[0], options) ?? null,
    find: (filter, { sort = {}, skip = 0, limit, ...options }) => {
      const found = matching(filter).sort((one, other) => compare(one, other, sort))
      const page = found.slice(skip, limit ? skip + limit : undefined)
      return { toArray: driverMethod(() => page.map((document) => projected(document, options))) }
    },
    insertOne: (document) => methods.insertMany([document]),
    insertMany: (added) => {
      documents.push(...added)
      return { result: { ok: 1 }, ops: added }
    },
    updateOne: (filter, { $set }) => {
      const [found] = matching(filter)
      if (found) documents[documents.indexOf(found)] = { ...found, ...$set }
      return { result: { n: found ? 1 : 0 } }
    },
    findOneAndUpdate: (filter, change, options) => {
      const [found] = matching(filter)
      methods.updateOne(filter, change)
      return {
        value: projected(options.returnDocument === 'after' ? matching({ _id: found?._id })[0] : found, options),
      }
    },
    findOneAndDelete: (filter) => {
      const [value] = matching(filter)
      remove([value])
      return { value }
    },
    deleteOne: (filter) => remove(matching(filter).slice(0, 1)),
    deleteMany: (filter) => remove(matching(filter)),
  }
  return Object.fromEntries(Object.entries(methods).map(([name, work]) => [name, driverMethod(work)]))
}

const collections = new Map()
function collection(name) {
  if (!collections.has(name)) collections.set(name, createCollection())
  return collections.get(name)
}

Object.assign(MongoClient.prototype, {
  connect(callback) {
    queueMicrotask(() => callback(null, this))
  },
  db: () => ({ s: { topology: new EventEmitter() }, collection }),
  close(_force, callback) {
    callback?.()
  },
})

// The files of mongo-seeding: data/1.users/user.js is for the collection "users".
for (const folder of existsSync('data') ? readdirSync('data') : [])
  for (const file of readdirSync(join('data', folder)))
    collection(folder.replace(/^\d+\./, '')).insertMany(require(join(process.cwd(), 'data', folder, file)))
