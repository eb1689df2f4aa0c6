import { type Highlighter, highlightJson, highlightScript, type Stretch } from "../documents/highlight"
import { highlightRql } from "../query/rql-text"

const Commands =
  /^\s*(?:\$ |sudo |curl |rookery |docker |ssh |scp |cd |make |git |npm |ansible|apt|cat |echo |export |snmp|mkdir |openssl |systemctl |server\/|cluster\/|image\/|benchmarks\/|dotnet |node |qemu|[A-Z_]+=\S+ \S)/m

const Prompt = /^\$ /m

const Shell = /(?<=^|\s)#[^\n]*|"(?:[^"\\]|\\.)*"|'[^']*'|\$\{?\w+\}?|(?<=\s)--?[a-zA-Z][\w-]*/g

/** Highlights commands: texts, options, variables and comments. */
const highlightShell: Highlighter = (text) =>
  stretches(text, Shell, (piece) =>
    piece[0] === "#" ? "comment" : /["']/.test(piece[0] ?? "") ? "text" : piece[0] === "$" ? "parameter" : "name",
  )

const Settings =
  /^\s*#[^\n]*|(?<=\s)#[^\n]*|^[ \t]*(?:- )*[\w."-]+(?=\s*[=:](?:\s|$))|^\s*\[+[^\]\n]+\]+|"(?:[^"\\]|\\.)*"|'[^']*'|\b\d[\d_.]*\b/gm

/** Highlights a terminal: its commands, which follow a prompt, and what they printed. */
const highlightTerminal: Highlighter = (text) => {
  const found: Stretch[] = []
  for (const { start, end, isCommand } of terminalLines(text)) {
    if (isCommand)
      for (const one of highlightShell(text.slice(start, end))) found.push({ ...one, start: one.start + start, end: one.end + start })
    else if (end > start) found.push({ start, end, role: "sign" })
  }

  return found
}

/** Returns what of a block is copied: the commands without their prompts, or all of it without a prompt. */
export function copyOf(text: string): string {
  if (!Prompt.test(text)) return text
  return terminalLines(text)
    .filter(({ isCommand }) => isCommand)
    .map(({ start, end }) => text.slice(start, end).replace(/^\$ /, ""))
    .join("\n")
}

function terminalLines(text: string): { start: number; end: number; isCommand: boolean }[] {
  const lines: { start: number; end: number; isCommand: boolean }[] = []
  let start = 0
  // A backslash at the end continues a command.
  let continues = false
  for (const line of text.split("\n")) {
    const isCommand: boolean = continues || line.startsWith("$ ")
    lines.push({ start, end: start + line.length, isCommand })
    continues = isCommand && line.endsWith("\\")
    start += line.length + 1
  }

  return lines
}

/** Highlights YAML, TOML and INI. */
const highlightSettings: Highlighter = (text) =>
  stretches(text, Settings, (piece) => {
    const first = piece.trim()[0] ?? ""
    if (first === "#") return "comment"
    if (first === "[") return "keyword"
    if (/["']/.test(first)) return "text"
    return /^\d/.test(first) ? "number" : "name"
  })

function stretches(text: string, pieces: RegExp, roleOf: (piece: string) => Stretch["role"]): Stretch[] {
  return [...text.matchAll(pieces)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    role: roleOf(match[0]),
  }))
}

const ByName: Record<string, Highlighter> = {
  js: highlightScript,
  cs: highlightScript,
  json: highlightJson,
  rql: highlightRql,
  sh: highlightShell,
  yaml: highlightSettings,
  toml: highlightSettings,
}

/** Returns the highlighter of a block of code: the one that the page names, or else the one that the text looks like. */
export function highlighterOf(language: string, text: string): Highlighter | undefined {
  if (language !== "") return ByName[language]
  if (Prompt.test(text)) return highlightTerminal
  if (Commands.test(text)) return highlightShell
  if (/^\s*[{[]\s*(?:["{[\]}]|$)/.test(text)) return highlightJson
  if (/^\s*(?:from|declare function|match)\s/.test(text)) return highlightRql
  if (/^\s*\[[\w.-]+\]\s*$/m.test(text) || /^(?:\s*#[^\n]*\n)*\s*(?:- )?[\w.-]+\s*(?:=|:(?=\s|$))/.test(text)) return highlightSettings
  return undefined
}
