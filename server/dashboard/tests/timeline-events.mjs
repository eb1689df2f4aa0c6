// Generates the disk events of a node on a slow card, always the same for a seed: journal writes and their syncs of 4 to 12 ms, flushes,
// compactions, index writes, reads, and stalls in which all other work waits.
// The tests and benchmarks/dashboard-timeline.mjs use it. fileOf returns the events in the format that the page exports.

/** A small generator of random numbers (mulberry32): from 0 up to 1, the same sequence for a seed. */
export function randomOf(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Rows [kind, start, duration, bytes] in the order in which they ended; the last ends at `end` (microseconds) or a little before. */
export function eventsOf({ count = 100_000, seed = 1, end = 1_790_000_000_000_000 } = {}) {
  const random = randomOf(seed)
  const between = (low, high) => Math.round(low + (high - low) * random())
  const rows = []
  let now = 0
  let unflushed = 0
  let stalls = 0
  while (rows.length < count) {
    const batch = between(1, 8) * between(400, 24_000)
    const write = between(120, 900) + Math.round(batch / 90)
    const isStall = random() < 1 / 1000
    const sync = isStall ? between(250_000, stalls++ % 4 === 3 ? 2_400_000 : 900_000) : between(4000, 12_000)
    rows.push(["journal_write", now, write, batch])
    rows.push(["journal_sync", now + write, sync, 0])
    // Reads run during the write and the sync, several at once.
    for (let reads = between(0, 3); reads > 0; reads--)
      rows.push(["read", now + between(0, write + sync), between(180, 2600), 16_384 * between(1, 2)])
    now += write + sync + between(20, 1500)
    unflushed += batch
    if (unflushed > 4_000_000) {
      now = burst(rows, random, now, "run_write", 8, 524_288)
      rows.push(["manifest", now, between(4000, 9000), 4096])
      now += between(9000, 12_000)
      if (random() < 0.4) now = burst(rows, random, now, "compaction", between(12, 40), 524_288)
      now = burst(rows, random, now, "index", between(3, 12), 2 * between(20_000, 150_000))
      if (random() < 0.1) rows.push(["journal_spare", now, between(300_000, 900_000), 16_777_216])
      unflushed = 0
    }
  }

  rows.length = count
  rows.sort((one, other) => one[1] + one[2] - (other[1] + other[2]))
  const last = rows[rows.length - 1]
  const shift = end - (last[1] + last[2])
  for (const row of rows) row[1] += shift
  return rows
}

/** Adds chunks of background work, and journal writes between them. Returns the time after the last chunk. */
function burst(rows, random, from, kind, chunks, bytes) {
  let now = from
  for (let chunk = 0; chunk < chunks; chunk++) {
    // Two writes into the page cache, then the sync that writes them to the card.
    const took = Math.round(30_000 + 45_000 * random())
    rows.push(
      [kind, now - 4000, Math.round(900 + 900 * random()), bytes / 2],
      [kind, now - 2000, Math.round(900 + 900 * random()), bytes / 2],
      [kind, now, took, 0],
    )
    const write = Math.round(200 + 500 * random())
    rows.push(["journal_write", now + 2000, write, 4096])
    rows.push(["journal_sync", now + 2000 + write, Math.round(took - 1500 + 9000 * random()), 0])
    now += took + 11_000
  }

  return now
}

/** A file in the format that the page exports, with these events, roll-ups of the day before them, and samples for the lines. */
export function fileOf({ count = 100_000, seed = 1, end = 1_790_000_000_000_000, tag = "A", name = "pi-1" } = {}) {
  const random = randomOf(seed + 1)
  const events = eventsOf({ count, seed, end })
  const from = events[0][1]
  const lastSecond = Math.floor(end / 1e6)
  const sums = (span, begin, until) => {
    const rows = []
    for (let second = begin; second < until; second += span) {
      const load = 0.25 + 0.7 * Math.abs(Math.sin(second / 7000)) * (0.6 + 0.4 * random())
      const syncs = Math.round(span * load * 90)
      rows.push([second, "journal_write", syncs, syncs * 9000, syncs * 500, 4000])
      rows.push([
        second,
        "journal_sync",
        syncs,
        0,
        syncs * 8000,
        random() < span / 9000 ? Math.round(200_000 + 1_500_000 * random()) : 13_000,
      ])
      if (random() < 0.5)
        rows.push([second, "run_write", Math.ceil(load * span), Math.ceil(load * span) * 400_000, Math.ceil(load * span * 60_000), 90_000])
      if (random() < 0.3)
        rows.push([
          second,
          "compaction",
          Math.ceil(load * span),
          Math.ceil(load * span) * 400_000,
          Math.ceil(load * span * 150_000),
          110_000,
        ])
      if (random() < 0.5)
        rows.push([second, "index", Math.ceil(load * span), Math.ceil(load * span) * 90_000, Math.ceil(load * span * 40_000), 60_000])
      rows.push([second, "read", syncs * 2, syncs * 2 * 20_000, syncs * 2200, 9000])
    }

    return rows
  }
  const Columns = ["UnixSecond", "Kind", "Count", "Bytes", "TotalMicroseconds", "MaxMicroseconds"]
  const level = (span, begin, until) => ({
    SpanSeconds: span,
    Known: [[Math.floor(begin / span) * span, Math.floor(until / span) * span]],
    Columns,
    Rows: sums(span, Math.floor(begin / span) * span, Math.floor(until / span) * span),
  })
  const history = []
  for (let second = lastSecond - 86_400; second <= lastSecond; second += 60) {
    const load = 0.25 + 0.7 * Math.abs(Math.sin(second / 7000))
    history.push([second * 1e6, 9 + 40 * load * load + 4 * random(), 1.5 + 3 * load * random(), 44 + 22 * load + random()])
  }

  const slow = events.filter(([kind, , duration]) => kind === "journal_sync" && duration > 80_000)
  const EventColumns = ["Kind", "StartUnixMicroseconds", "DurationMicroseconds", "Bytes"]
  return {
    Form: "rookery-io-timeline",
    Version: 1,
    Exported: new Date(end / 1000).toISOString(),
    Nodes: [
      {
        Node: tag,
        NodeName: name,
        Devices: { Journal: "mmcblk0p2", Data: "mmcblk0p2" },
        Covered: [[from, end]],
        Events: { Columns: EventColumns, Rows: events },
        SlowEvents: { Columns: EventColumns, Rows: slow },
        RollUps: [level(60, lastSecond - 86_400, from / 1e6), level(1, lastSecond - 2400, lastSecond)],
        History: { Columns: ["UnixMicroseconds", "WriteP99Milliseconds", "ReadP99Milliseconds", "TemperatureCelsius"], Rows: history },
      },
    ],
  }
}
