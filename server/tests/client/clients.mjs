// The clients under test, unmodified. Both run the same suites.
import { createRequire } from "node:module"

const require = createRequire(import.meta.url)

export const clients = ["ravendb", "ravendb-5"].map(name => {
  const ravendb = require(name)
  const { version } = JSON.parse(require("node:fs").readFileSync(new URL(`./node_modules/${name}/package.json`, import.meta.url), "utf8"))
  return { version, ...ravendb }
})

export class User {
  constructor(fields = {}) {
    this.name = undefined
    Object.assign(this, fields)
  }
}

export class Order {
  constructor(fields = {}) {
    Object.assign(this, fields)
  }
}

/** Creates a database for one suite, passes its open store to `work`, and always deletes the database. */
export async function withDatabase(client, url, name, work, authentication) {
  const store = openStore(client, url, name, authentication)
  try {
    await store.maintenance.server.send(new client.CreateDatabaseOperation({ databaseName: name }))
    await work(store)
  } finally {
    await store.maintenance.server
      .send(new client.DeleteDatabasesOperation({ databaseNames: [name], hardDelete: true }))
      .catch(() => {}) // A failure of `work` must not be hidden by one of this deletion.
    store.dispose()
  }
}

/** Opens a store. The caller must dispose it. */
export function openStore(client, urls, database, authentication, conventions = {}) {
  const store = new client.DocumentStore(urls, database, authentication)
  Object.assign(store.conventions, conventions)
  store.conventions.registerEntityType(User)
  store.conventions.registerEntityType(Order)
  return store.initialize()
}

/** Waits for an event, and fails after a time instead of hanging. `event` is the event's name for the message, or a function that returns it. */
export function within(milliseconds, promise, event) {
  let timer
  const late = new Promise((_, reject) => {
    const message = () => `${typeof event === "function" ? event() : event}: nothing within ${milliseconds} ms`
    timer = setTimeout(() => reject(new Error(message())), milliseconds)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** Returns all items of an object stream. */
export async function collect(stream) {
  const items = []
  for await (const item of stream) {
    items.push(item)
  }

  return items
}
