namespace Rookery.Raft.Tests.Simulation;

/// <summary>
/// Observes all events, and checks the promises of docs/explanation/consensus.md with constant work for each event.
/// </summary>
internal sealed class ClusterOracle
{
    private readonly Dictionary<long, (long Term, long Payload, long? StateHash)> _committed = [];
    private readonly Dictionary<long, NodeId> _leaders = [];
    private readonly Dictionary<(NodeId Voter, long Term), NodeId> _votes = [];

    /// <summary>The highest index whose write was acknowledged to a client.</summary>
    public long Acknowledged { get; private set; }

    /// <summary>The highest index that a node has applied.</summary>
    public long Committed { get; private set; }

    /// <summary>The number of acknowledged writes.</summary>
    public int Writes { get; private set; }

    /// <summary>The number of served reads.</summary>
    public int Reads { get; private set; }

    /// <summary>The number of terms that had a leader.</summary>
    public int Elections => _leaders.Count;

    /// <summary>Records the leader of a term, and checks that the term has no other.</summary>
    public void RecordLeader(NodeId node, long term)
    {
        if (_leaders.TryAdd(term, node))
        {
            return;
        }

        Assert.True(_leaders[term] == node, $"term {term} has two leaders: {_leaders[term]} and {node}");
    }

    /// <summary>Records a vote, and checks that its voter has voted for no other node in the term.</summary>
    public void RecordVote(NodeId voter, long term, NodeId candidate)
    {
        if (!_votes.TryAdd((voter, term), candidate))
        {
            Assert.True(
                _votes[(voter, term)] == candidate,
                $"{voter} voted twice in term {term}: for {_votes[(voter, term)]} and {candidate}"
            );
        }
    }

    /// <summary>
    /// Records an entry that a node applied, and checks that every node applied the same at this index, with the same
    /// result. The hash is null for a node that is known to have diverged.
    /// </summary>
    public void RecordApplied(NodeId node, in StoredEntry entry, long? stateHash)
    {
        var applied = (entry.Entry.Term, entry.Payload, stateHash);
        if (!_committed.TryGetValue(entry.Entry.Index, out var before) || before.StateHash is null)
        {
            _committed[entry.Entry.Index] = applied;
            Committed = Math.Max(Committed, entry.Entry.Index);
            return;
        }

        Assert.True(
            before == applied
                || (stateHash is null && (before.Term, before.Payload) == (applied.Term, applied.Payload)),
            $"{node} applied {applied} at {entry.Entry.Index}, another {_committed[entry.Entry.Index]}"
        );
    }

    /// <summary>
    /// Checks that a committed entry is durable on a majority; a node that has lost it since must know that.
    /// </summary>
    public static void CheckCommit(
        NodeId leader,
        LogPosition position,
        Configuration configuration,
        Func<NodeId, SimulatedStore> storeOf
    )
    {
        int holders = 0;
        foreach (var voter in configuration.Voters)
        {
            holders += Holds(storeOf(voter), position) ? 1 : 0;
        }

        Assert.True(
            holders >= configuration.Majority,
            $"{leader} committed {position}, which {holders} of {configuration} have on disk"
        );
    }

    /// <summary>Records a write that is acknowledged to a client.</summary>
    public void RecordWrite(long index)
    {
        Acknowledged = Math.Max(Acknowledged, index);
        Writes++;
    }

    /// <summary>Records a read, and checks that it sees all writes that were acknowledged before it began.</summary>
    public void RecordRead(NodeId node, long index, long acknowledgedBefore)
    {
        Reads++;
        Assert.True(
            index >= acknowledgedBefore,
            $"a read at {node} sees {index}; {acknowledgedBefore} had been acknowledged before it began"
        );
    }

    private static bool Holds(SimulatedStore store, LogPosition position) =>
        store.Base.Position.Index >= position.Index
        || (store.At(position.Index) is { } stored && stored.Entry.Term == position.Term)
        || store.KnowsLossOf(position);
}
