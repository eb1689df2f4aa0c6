import { Confirm, toast } from "../shell/parts"
import { changeMember, type Member, type MemberChange } from "./member"

const words: Record<MemberChange, { title: (name: string) => string; verb: string; what: (name: string) => string }> = {
  remove: {
    title: (name) => `Remove ${name}?`,
    verb: "Remove",
    what: (name) =>
      `${name} is not a member any more, and the cluster refuses the data on its card. It can return only with an empty data directory and a new token. If another person may have its card, replace the certificate authority afterwards.`,
  },
  promote: {
    title: (name) => `Let ${name} vote?`,
    verb: "Let it vote",
    what: (name) =>
      `${name} counts for the majority from then on: a write is acknowledged when more than half of the voters have it on their cards.`,
  },
  demote: {
    title: (name) => `Demote ${name}?`,
    verb: "Demote",
    what: (name) => `${name} still receives all data, but no longer votes: the other voters must form the majority.`,
  },
  transfer: {
    title: (name) => `Let ${name} lead?`,
    verb: "Let it lead",
    what: (name) => `${name} becomes the leader as soon as it has all entries. Writes wait for a moment; none is lost.`,
  },
}

/** Asks for confirmation before a member is changed. Before a removal the user must type its name. */
export function ConfirmChange({
  what,
  member,
  onClose,
  onDone,
}: {
  what: MemberChange
  member: Member
  onClose: () => void
  onDone?: () => void
}) {
  const say = words[what]
  return (
    <Confirm
      title={say.title(member.Name)}
      verb={say.verb}
      danger={what === "demote"}
      {...(what === "remove" ? { name: member.Name } : {})}
      onConfirm={async () => {
        toast(await changeMember(what, member), { tone: "good" })
        onDone?.()
      }}
      onClose={onClose}
    >
      <p>{say.what(member.Name)}</p>
    </Confirm>
  )
}
