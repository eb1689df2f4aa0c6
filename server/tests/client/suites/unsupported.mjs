import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { User, withDatabase } from "../clients.mjs"

/** Unsupported features. The refusal names the feature, and nothing else of the same session is stored. */
export function unsupported(client, url) {
  const database = work => withDatabase(client, url(), "unsupported", work)

  const features = {
    "time series": session => session.timeSeriesFor("users/1", "heart").append(new Date(0), 60),
  }

  describe("an unsupported feature", () => {
    for (const [feature, ask] of Object.entries(features)) {
      it(`is refused with its name in a session: ${feature}`, () => database(async store => {
        const session = store.openSession()
        await session.store(new User({ name: "ann" }), "users/1")
        await ask(session)
        await assert.rejects(session.saveChanges(), new RegExp(feature, "i"))
        assert.equal(await store.openSession().load("users/1"), null, "nothing was stored")
      }))
    }

    it("is refused with its name in operations", () => database(async store => {
      await assert.rejects(store.operations.send(new client.GetAttachmentOperation("users/1", "a.txt", "Revision", "A:1-x")), /attachments/)
    }))
  })
}
