import { count } from "../shell/format"
import type { Member, MemberList } from "./member"

const Width = 690
const RowHeight = 54
const LeaderAt = 120
const OtherAt = 470

/**
 * A picture of the replication: the leader at the left, its followers at the right. The table below has the same data.
 */
export function Topology({ list }: { list: MemberList }) {
  const leader = list.Members.find((member) => member.Role === "leader")
  const others = list.Members.filter((member) => member !== leader)
  if (!leader || others.length === 0) return null
  const height = others.length * RowHeight + 8
  const middle = height / 2
  return (
    <svg
      class="topology"
      viewBox={`0 0 ${Width} ${height}`}
      role="img"
      aria-label={`${leader.Name} leads ${others.length === 1 ? "one other member" : `${others.length} other members`}`}
    >
      {others.map((member, at) => {
        const y = at * RowHeight + RowHeight / 2 + 4
        const tone = member.IsReachable === undefined ? "unknown" : member.IsReachable ? "good" : "bad"
        return (
          <g key={member.NodeId}>
            {
              <path
                class={`link ${tone}`}
                d={`M${LeaderAt + 66} ${middle} C ${LeaderAt + 190} ${middle}, ${OtherAt - 190} ${y}, ${OtherAt - 66} ${y}`}
                fill="none"
                stroke-width="2"
                {...(tone === "good" ? {} : { "stroke-dasharray": "5 6" })}
              />
            }
            <Box x={OtherAt} y={y} member={member} tone={tone} />
            <text class="lag" x={OtherAt + 78} y={y + 4}>
              {tone === "bad"
                ? "does not answer"
                : member.LagEntries === undefined
                  ? "unknown"
                  : member.LagEntries === 0
                    ? "up to date"
                    : `${count(member.LagEntries)} behind`}
            </text>
          </g>
        )
      })}
      <Box x={LeaderAt} y={middle} member={leader} tone="leader" />
    </svg>
  )
}

function Box({ x, y, member, tone }: { x: number; y: number; member: Member; tone: string }) {
  return (
    <g class={`box ${tone} ${member.Role}`}>
      <rect
        x={x - 66}
        y={y - 19}
        width="132"
        height="38"
        rx="8"
        stroke-width={tone === "leader" ? 2.5 : 1.5}
        {...(member.Role === "learner" ? { "stroke-dasharray": "4 4" } : {})}
      />
      <text x={x} y={y + 5} text-anchor="middle">
        {member.Name.length > 15 ? `${member.Name.slice(0, 14)}…` : member.Name}
      </text>
    </g>
  )
}
