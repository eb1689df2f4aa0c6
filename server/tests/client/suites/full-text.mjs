import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { collect, withDatabase } from "../clients.mjs"

const articles = [
  { name: "cat", text: "A small animal with whiskers that hunts at night", price: 10, brand: "Acme" },
  { name: "lion", text: "A large animal with whiskers", price: 20, brand: "acme" },
  { name: "dog", text: "An animal, an animal", price: 30, brand: "Zoom" },
  { name: "moon", text: "The moon at night", price: 5, brand: "Zoom" },
]

/** Full-text search, facets, suggestions and moreLikeThis, as the query builder writes them. */
export function fullText(client, url) {
  const database = work => withDatabase(client, url(), "full-text", async store => {
    const session = store.openSession()
    for (const [i, article] of articles.entries()) {
      await session.store({ ...article, "@metadata": { "@collection": "Articles" } }, `articles/${i + 1}`)
    }

    await session.saveChanges()
    await work(store, () => store.openSession().query({ collection: "Articles" }).waitForNonStaleResults())
  })
  const names = async query => (await query.all()).map(article => article.name).join()

  describe("full text", () => {
    it("searches, the most relevant first", () => database(async (_, query) => {
      assert.equal(await names(query().search("text", "animal")), "dog,lion,cat")
      assert.equal((await names(query().search("text", "animal night"))).split(",").length, 4)
      assert.equal(await names(query().search("text", "animal night", "AND")), "cat")
      assert.equal(await names(query().search("text", "whisk*").orderBy("name")), "cat,lion")
      assert.equal(await names(query().search("text", "\"large animal\"")), "lion")
      assert.equal(await names(query().search("text", "animal").orderByScore()), "dog,lion,cat")
    }))

    it("boosts, and finds similar and nearby words", () => database(async (_, query) => {
      assert.equal(await names(query().search("text", "night").orElse().whereEquals("name", "moon").boost(20)), "moon,cat")
      assert.equal(await names(query().whereEquals("name", "mooon").fuzzy(0.7)), "moon")
      assert.equal(await names(query().search("text", "small whiskers").proximity(3)), "cat")
      assert.equal(await names(query().search("text", "small night").proximity(1)), "")
    }))

    it("pages with statistics, and streams", () => database(async (store, query) => {
      let statistics
      const page = await query().search("text", "animal").waitForNonStaleResults().statistics(found => { statistics = found }).skip(1).take(1).all()
      assert.deepEqual([page.map(article => article.name), statistics.totalResults], [["lion"], 3])
      const session = store.openSession()
      const streamed = await collect(await session.advanced.stream(session.query({ collection: "Articles" }).search("text", "animal")))
      assert.deepEqual(streamed.map(item => item.document.name), ["dog", "lion", "cat"])
    }))

    it("counts facets by value and by range", () => database(async (_, query) => {
      const { brand } = await query().aggregateBy(facet => facet.byField("brand").sumOn("price")).execute()
      assert.deepEqual(brand.values.map(({ range, count, sum }) => [range, count, sum]), [["acme", 2, 30], ["zoom", 2, 35]])
      const cheap = client.RangeBuilder.forPath("price")
      const { price } = await query().aggregateBy(facet => facet.byRanges(cheap.isLessThan(10), cheap.isGreaterThanOrEqualTo(10))).execute()
      assert.deepEqual(price.values.map(({ range, count }) => [range, count]), [["price < 10", 1], ["price >= 10", 3]])
    }))

    it("counts the facets of a stored facet setup", () => database(async (store, query) => {
      const setup = new client.FacetSetup()
      const facet = new client.Facet()
      facet.fieldName = "brand"
      setup.facets = [facet]
      const session = store.openSession()
      await session.store(setup, "facets/articles")
      await session.saveChanges()
      const { brand } = await query().aggregateUsing("facets/articles").execute()
      assert.deepEqual(brand.values.map(({ range, count }) => [range, count]), [["acme", 2], ["zoom", 2]])
    }))

    it("suggests words", () => database(async (_, query) => {
      const { text } = await query().suggestUsing(field => field.byField("text", "anmal")).execute()
      assert.deepEqual(text.suggestions, ["animal"])
    }))

    it("finds more like a document", () => database(async (_, query) => {
      const like = query().moreLikeThis(given => given
        .usingDocument(document => document.whereEquals("id()", "articles/1"))
        .withOptions({ minimumTermFrequency: 1, minimumDocumentFrequency: 1, fields: ["text"] }))
      assert.deepEqual((await like.all()).map(article => article.name).sort(), ["dog", "lion", "moon"])
    }))
  })
}
