using Rookery.Cluster.Joining;
using Rookery.Documents;
using Rookery.Raft;

namespace Rookery.Cluster.Membership;

/// <summary>The members' records, read anew when one changed. From any thread.</summary>
internal sealed class MemberRoster(ClusterRecords records)
{
    private Snapshot _snapshot = new(-1, 0, []);

    /// <summary>All members, by node id.</summary>
    public IReadOnlyList<RosterEntry> Entries => Current().Entries;

    /// <summary>What is known of a member; null when nothing is.</summary>
    public RosterEntry? Of(NodeId member)
    {
        foreach (var entry in Current().Entries)
        {
            if (entry.Member == member)
            {
                return entry;
            }
        }

        return null;
    }

    /// <summary>The members as clients see them.</summary>
    public ClusterView View(ConsensusState state, NodeStore store)
    {
        var self = Members.IdOf(store.NodeId);
        var members = Entries
            .Where(entry => state.Configuration.IsMember(entry.Member))
            .Select(entry => new ClusterViewMember(
                entry.Record.Tag,
                entry.NodeId,
                entry.Record.Name,
                entry.Record.PublicUrl,
                state.Configuration.IsVoter(entry.Member),
                entry.Member == state.Leader,
                entry.Member == self))
            .OrderByDescending(static member => member.IsLeader)
            .ThenBy(static member => member.Tag, StringComparer.Ordinal)
            .ToList();
        if (members.Count == 0)
        {
            members.Add(new ClusterViewMember(store.Options.NodeTag, store.NodeId, "", Url: null, IsVoter: true, state.Role == Role.Leader, IsSelf: true));
        }

        // Each of the three only grows, so their sum grows with each.
        return new ClusterView(state.Term + state.ConfigurationIndex + Current().SeatsVersion, members);
    }

    private Snapshot Current()
    {
        long revision = records.Revision;
        var snapshot = Volatile.Read(ref _snapshot);
        if (snapshot.Revision != revision)
        {
            var entries =
                from record in records.List(ClusterRecordPrefix.Member)
                let member = MemberRecord.Parse(record.Value.Span)
                where member is not null
                select new RosterEntry(record.Key[ClusterRecordPrefix.Member.Length..], member, record.Version);
            long seats = records.TryGet(Seats.Key, out var changed) ? changed.Version : 0;
            snapshot = new Snapshot(revision, seats, [.. entries]);
            Volatile.Write(ref _snapshot, snapshot);
        }

        return snapshot;
    }

    private sealed record Snapshot(long Revision, long SeatsVersion, RosterEntry[] Entries);
}

/// <summary>What the cluster knows of one member.</summary>
/// <param name="NodeId">Its random id.</param>
/// <param name="Record">The record.</param>
/// <param name="Version">The record's version.</param>
internal sealed record RosterEntry(string NodeId, MemberRecord Record, long Version)
{
    /// <summary>The member as consensus knows it.</summary>
    public NodeId Member { get; } = Members.IdOf(NodeId);
}
