import { useMemo } from "preact/hooks"
import { diffLines, withoutFarLines } from "./text-diff"

interface DiffTableProps {
  left: string
  right: string
  /** What the two texts are, for the legend. */
  leftName: string
  rightName: string
  /** Shown instead of the table if the texts are the same. */
  same: string
}

/** The lines in which two texts differ, with the lines near them. */
export function DiffTable({ left, right, leftName, rightName, same }: DiffTableProps) {
  const lines = useMemo(() => diffLines(left, right), [left, right])
  if (lines.every((line) => line.kind === "same")) return <p>{same}</p>
  return (
    <>
      <p class="diff-legend">
        <span class="diff-left">− {leftName}</span> <span class="diff-right">+ {rightName}</span>
      </p>
      <div class="diff" role="region" aria-label="Differences" tabIndex={0}>
        <table>
          <tbody>
            {withoutFarLines(lines).map((line, at) =>
              line === null ? (
                <tr key={`gap ${at}`} class="diff-gap">
                  <td colSpan={4}>…</td>
                </tr>
              ) : (
                <tr key={`${line.leftNumber} ${line.rightNumber}`} class={`diff-${line.kind}`}>
                  <td class="diff-number">{line.leftNumber ?? ""}</td>
                  <td class="diff-number">{line.rightNumber ?? ""}</td>
                  <td class="diff-sign">{{ same: "", left: "−", right: "+" }[line.kind]}</td>
                  <td>
                    <code>{line.text}</code>
                  </td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      </div>
    </>
  )
}
