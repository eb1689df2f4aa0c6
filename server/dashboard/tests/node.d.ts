// What tests use of Node itself; the pages know nothing of it.
declare module "node:crypto" {
  export function createHash(name: string): { update(text: string): { digest(form: "hex"): string } }
}
declare module "node:fs" {
  export function existsSync(path: string): boolean
  export function readdirSync(path: string, options: { recursive: true; encoding: "utf8" }): string[]
  export function readFileSync(path: string, form: "utf8"): string
  export function statSync(path: string): { size: number }
}
declare module "node:path" {
  export function join(...parts: string[]): string
  export function dirname(path: string): string
}
declare module "node:url" {
  export function fileURLToPath(url: string): string
}
