using Rookery.Cluster.Joining;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;
using Rookery.Raft;
using Rookery.Storage;

namespace Rookery.Cluster.Membership;

/// <summary>
/// The parsed records of the members and the recorded topology. Parsed again after a record has changed. Thread-safe.
/// </summary>
internal sealed class MemberRoster(NodeStore store)
{
    private readonly ClusterRecords _records = store.ClusterRecords;
    private Snapshot _snapshot = new(Revision: -1, [], Topology: null);

    /// <summary>The records of all members, by node id.</summary>
    public IReadOnlyList<RosterEntry> Entries => Current().Entries;

    /// <summary>Returns a member's record; null when there is none.</summary>
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

    /// <summary>Returns a member's name, or "member" and its number when it has no record.</summary>
    public string NameOf(NodeId member) => Of(member)?.Record.Name is { Length: > 0 } name ? name : $"member {member}";

    /// <summary>Returns a member's name and its tag, under which it appears in statistics.</summary>
    public string NameAndTagOf(NodeId member) =>
        Of(member)?.Record is { Name.Length: > 0 } record ? $"{record.Name} ({record.Tag})" : NameOf(member);

    /// <summary>
    /// Returns a member's tag. Without a record: for this node, the tag of its options; for another, its number.
    /// </summary>
    public string TagOf(NodeId member) =>
        Of(member)?.Record.Tag ?? (member == Members.IdOf(store.NodeId) ? store.Options.NodeTag : member.ToString());

    /// <summary>Returns the members as clients see them: the topology that the leader recorded.</summary>
    public ClusterView View(ConsensusState state)
    {
        var recorded = Current().Topology;
        bool isAlone =
            state.Configuration.Voters.Length == 1
            && state.Configuration.Learners.IsEmpty
            && state.Configuration.IsVoter(Members.IdOf(store.NodeId));
        if (recorded is not null && !(isAlone && recorded.Of(store.NodeId) is null))
        {
            return new ClusterView(recorded.Etag, [.. recorded.Members.Select(member => member.ToView(store.NodeId))]);
        }

        // While the node is the only member, term and configuration index only grow, so the etag grows too. A joining
        // node has no topology for clients.
        long etag = isAlone ? Math.Max((recorded?.Etag ?? 0) + 1, state.Term + state.ConfigurationIndex) : 0;
        return new ClusterView(etag, [ViewOfSelf(state)]);
    }

    /// <summary>Returns the members as this node sees them now, the leader first.</summary>
    public IReadOnlyList<ClusterViewMember> Listed(ConsensusState state)
    {
        var self = Members.IdOf(store.NodeId);
        var members = Entries
            .Where(entry => state.Configuration.IsMember(entry.Member))
            .Select(entry => new ClusterViewMember(
                entry.Record.Tag,
                entry.NodeId,
                entry.Record.Name,
                entry.Record.ClientUrls,
                entry.Record.PublicUrl,
                state.Configuration.IsVoter(entry.Member),
                entry.Member == state.Leader,
                entry.Member == self
            ))
            .OrderByDescending(static member => member.IsLeader)
            .ThenBy(static member => member.Tag, StringComparer.Ordinal)
            .ToList();
        return members.Count == 0 ? [ViewOfSelf(state)] : members;
    }

    private ClusterViewMember ViewOfSelf(ConsensusState state) =>
        new(
            store.Options.NodeTag,
            store.NodeId,
            Name: "",
            Urls: [],
            PublicUrl: null,
            IsVoter: true,
            state.Role == Role.Leader,
            IsSelf: true
        );

    private Snapshot Current()
    {
        long revision = _records.Revision;
        var snapshot = Volatile.Read(ref _snapshot);
        if (snapshot.Revision != revision)
        {
            try
            {
                snapshot = Read(revision);
                Volatile.Write(ref _snapshot, snapshot);
            }
            catch (DamagedException)
            {
                // Keep the last known members, because repairing the damage needs them.
            }
        }

        return snapshot;
    }

    private Snapshot Read(long revision)
    {
        var entries =
            from record in _records.List(ClusterRecordPrefix.Member)
            let member = MemberRecord.Parse(record.Value.Span)
            where member is not null
            select new RosterEntry(record.Key[ClusterRecordPrefix.Member.Length..], member, record.Version);
        var topology = _records.TryGet(TopologyRecord.Key, out var recorded)
            ? TopologyRecord.Parse(recorded.Value.Span)
            : null;
        return new Snapshot(revision, [.. entries], topology);
    }

    private sealed record Snapshot(long Revision, RosterEntry[] Entries, TopologyRecord? Topology);
}

/// <summary>A member with its record.</summary>
/// <param name="NodeId">The member's random id.</param>
/// <param name="Record">The record.</param>
/// <param name="Version">The record's version.</param>
internal sealed record RosterEntry(string NodeId, MemberRecord Record, long Version)
{
    /// <summary>The member's id in consensus.</summary>
    public NodeId Member { get; } = Members.IdOf(NodeId);
}
