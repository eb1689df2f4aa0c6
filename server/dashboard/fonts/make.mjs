// Makes src/shell/inter.woff2, the part of Inter that the page needs: Latin-1, the signs that the page writes, weights 400 to 600.
//   cd server/dashboard && npm install --no-save @fontsource-variable/inter@5.3.0 subset-font@2.9.0 && node fonts/make.mjs
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import subsetFont from "subset-font"

const place = (name) => fileURLToPath(new URL(name, import.meta.url))
const range = (from, to) => Array.from({ length: to - from + 1 }, (_, at) => String.fromCodePoint(from + at)).join("")
const signs = `${range(0x20, 0x7e)}${range(0xa0, 0xff)}–—‘’“”„…‹›•·×−≤≥≠→←↑↓✕✓€ŒœŠšŽžŸ½¼¾±°µ`
const whole = readFileSync(place("../node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2"))
const part = await subsetFont(whole, signs, { targetFormat: "woff2", variationAxes: { wght: { min: 400, max: 600 } } })
writeFileSync(place("../src/shell/inter.woff2"), part)
