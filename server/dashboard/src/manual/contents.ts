import type { Texts } from "./archive"
import { headingsOf } from "./headings"

/** The page that lists the others; its order is that of the contents. */
export const FirstPage = "README.md"

/** The kinds of pages (https://diataxis.fr) by folder, in the order of the contents. */
export const Groups = [
  { folder: "tutorial", title: "Tutorials" },
  { folder: "how-to", title: "How-to guides" },
  { folder: "reference", title: "Reference" },
  { folder: "explanation", title: "Explanation" },
] as const

export interface ManualPage {
  path: string
  title: string
  /** Title of the group; empty for the first page. */
  group: string
}

/** Returns all pages in the order of the contents: the first page, and each group as the first page names its pages. */
export function contentsOf(texts: Texts): ManualPage[] {
  const first = texts.get(FirstPage) ?? ""
  const named = [...first.matchAll(/\]\(([^)#]+\.md)/g)].map(([, path]) => path)
  const place = (path: string) => (named.includes(path) ? named.indexOf(path) : named.length)
  const pages: ManualPage[] = [{ path: FirstPage, title: titleOf(first), group: "" }]
  for (const { folder, title } of Groups) {
    const paths = [...texts.keys()].filter((path) => path.startsWith(`${folder}/`) && path.endsWith(".md"))
    paths.sort((left, right) => place(left) - place(right) || left.localeCompare(right))
    for (const path of paths) pages.push({ path, title: titleOf(texts.get(path) ?? ""), group: title })
  }

  return pages
}

function titleOf(text: string): string {
  return headingsOf(text)[0]?.text ?? ""
}
