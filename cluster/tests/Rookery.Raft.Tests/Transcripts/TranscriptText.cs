using Rookery.Raft.Tests.Simulation;

namespace Rookery.Raft.Tests.Transcripts;

/// <summary>The texts for members, messages and entries. A log position is written <c>term:index</c>.</summary>
internal static class TranscriptText
{
    /// <summary>Describes a member in one line, without its number.</summary>
    public static string Of(SimulatedNode node)
    {
        if (node.Core is not { } core)
        {
            return "off";
        }

        string role = core.Role switch
        {
            Role.PreCandidate => "pre-candidate",
            Role.Candidate => "candidate",
            Role.Leader => "leader",
            _ when core.Configuration.IsLearner(node.Id) => "learner",
            _ => "follower",
        };
        string leader = core.Role == Role.Leader || core.Leader.IsNone ? "" : $" of {core.Leader}";
        string vote =
            core.VotedFor.IsNone || core.VotedFor == node.Id || core.VotedFor == core.Leader
                ? ""
                : $", voted for {core.VotedFor}";
        string durable = core.DurableIndex < core.Last.Index ? $", durable {core.DurableIndex}" : "";
        return $"{role}{leader}, term {core.Term}{vote}, log {Of(core.Last)}{durable}, commit {core.CommitIndex}";
    }

    /// <summary>Describes a configuration.</summary>
    public static string Of(Configuration configuration)
    {
        string learners = configuration.Learners.IsEmpty ? "" : $", learners {Join(configuration.Learners)}";
        return $"voters {Join(configuration.Voters)}{learners}";
    }

    public static string Of(LogPosition position) => $"{position.Term}:{position.Index}";

    /// <summary>Describes a member's log, from its base on.</summary>
    public static string LogOf(SimulatedNode node, Func<long, string> nameOf)
    {
        string start = node.Store.Base.Position == default ? "" : $" snapshot {Of(node.Store.Base.Position)}";
        string entries = string.Concat(node.Store.Entries.Select(entry => $" {Of(entry, nameOf)}"));
        return $"{node.Id} has{start}{entries}{(start.Length + entries.Length == 0 ? " nothing" : "")}";
    }

    public static string Of(in StoredEntry entry, Func<long, string> nameOf)
    {
        string content = entry.Entry.Type switch
        {
            EntryType.NoOp => "no-op",
            EntryType.Configuration => $"[{Of(entry.Entry.Configuration!)}]",
            _ => nameOf(entry.Payload),
        };
        return $"{Of(new LogPosition(entry.Entry.Term, entry.Entry.Index))} {content}";
    }

    public static string Of(Flight flight, Func<long, string> nameOf)
    {
        string connection = $"{flight.From}->{flight.To}";
        if (flight.Message is not { } message)
        {
            return $"{connection} state of {flight.From}";
        }

        return $"{connection} {message.Kind} term {message.Term}{DetailsOf(message, flight.Entries, nameOf)}";
    }

    private static string DetailsOf(in Message message, StoredEntry[] entries, Func<long, string> nameOf)
    {
        string answer = message.Refused ? ", refused" : ", granted";
        return message.Kind switch
        {
            MessageKind.PreVote => $", log {Of(message.Position)}",
            MessageKind.Vote =>
                $", log {Of(message.Position)}{(message.IsTransfer ? ", the leader asked for it" : "")}",
            MessageKind.PreVoteReply or MessageKind.VoteReply => answer,
            MessageKind.Append =>
                $", behind {Of(message.Position)}: {(entries.Length == 0 ? "nothing" : Of(entries[0], nameOf))}, commit {message.Commit}",
            MessageKind.AppendReply when message.Refused =>
                $", refused at {message.Position.Index}, look at {Of(message.Hint)}",
            MessageKind.AppendReply => $", durable {message.Position.Index}",
            MessageKind.Heartbeat => $", commit {message.Commit}, round {message.Sequence}",
            MessageKind.HeartbeatReply => $", round {message.Sequence}",
            MessageKind.Commit => $", commit {message.Commit}",
            MessageKind.ReadReply => message.Refused ? ", refused" : $", apply through {message.LastIndex}",
            MessageKind.SnapshotOffer => $", snapshot {Of(message.Position)}",
            _ => "",
        };
    }

    private static string Join(ReadOnlySpan<NodeId> nodes) => string.Join(' ', nodes.ToArray());
}
