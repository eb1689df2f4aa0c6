// crash-image.mjs LOG TARGET CUT SEED (TARGET is a copy of the disk before the log began), or crash-image.mjs --count LOG
import { buildCrashImage, readEntries } from './block-log.mjs'

const [first, ...rest] = process.argv.slice(2)
if (first === '--count') {
  console.log(readEntries(rest[0]).entries.length)
} else {
  const [target, cut, seed] = rest
  const { dropped } = buildCrashImage({ log: first, target, cut: Number(cut), seed: Number(seed) })
  console.log(dropped)
}
