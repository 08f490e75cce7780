import { ObjectId } from 'mongodb'

/**
 * Replaces the calls of MongoDB in a collection of Mongoose with calls on documents in memory, with a unique index. Mongoose itself
 * casts the queries and reads the documents.
 */
export function standInForMongo(collection, uniqueKeys) {
  const documents = []
  const matches = (filter) => (document) =>
    Object.entries(filter).every(([key, value]) =>
      value?.$in ? value.$in.some((one) => isEqual(document[key], one)) : isEqual(document[key] ?? null, value ?? null),
    )
  function expectUnique(changed, self) {
    const others = documents.filter((document) => document !== self)
    const isTaken = others.some((document) => uniqueKeys.every((key) => isEqual(document[key], changed[key])))
    if (isTaken) throw Object.assign(new Error('E11000 duplicate key error'), { code: 11000 })
  }
  Object.assign(collection, {
    async findOne(filter) {
      return documents.find(matches(filter)) ?? null
    },
    async insertOne(document) {
      expectUnique(document)
      documents.push({ ...document })
      return { acknowledged: true, insertedId: document._id }
    },
    async updateOne(filter, { $set }) {
      const found = documents.find(matches(filter))
      if (found) {
        expectUnique({ ...found, ...$set }, found)
        Object.assign(found, $set)
      }
      return { matchedCount: found ? 1 : 0, modifiedCount: found ? 1 : 0 }
    },
    async deleteOne(filter) {
      const index = documents.findIndex(matches(filter))
      if (index >= 0) documents.splice(index, 1)
      return { deletedCount: index >= 0 ? 1 : 0 }
    },
  })
}

/** Compares as MongoDB does: ids by their bytes, and other values exactly. */
function isEqual(one, other) {
  return one instanceof ObjectId && other instanceof ObjectId ? one.equals(other) : one === other
}
