using Rookery.Documents.Consensus;
using Rookery.Documents.Records;
using Rookery.Raft;

namespace Rookery.Cluster.Joining;

/// <summary>
/// What letting a node in asks of consensus. Real over <see cref="IConsensus"/> (<see cref="ClusterRecordStore"/>), in
/// memory in tests.
/// </summary>
public interface IJoinRecordStore
{
    /// <summary>Whether this node leads: only a leader changes who belongs to the cluster.</summary>
    bool IsLeader { get; }

    /// <summary>
    /// Where the leader listens for members (<c>host:port</c>), as far as this node knows; empty when nobody leads.
    /// </summary>
    IReadOnlyList<string> LeaderAddresses { get; }

    /// <summary>The cluster's time, as far as this node knows it. What ends, ends by it, and by no clock.</summary>
    ClusterTime Time { get; }

    /// <summary>
    /// Waits until reads here see every change that was acknowledged before the call; false when this node cannot
    /// promise that now.
    /// </summary>
    ValueTask<bool> CatchUpAsync(CancellationToken cancellationToken);

    /// <summary>A record, or null.</summary>
    ClusterRecord? Find(string key);

    /// <summary>All records whose keys begin so, in order.</summary>
    IReadOnlyList<ClusterRecord> List(string prefix);

    /// <summary>Changes records, all or none.</summary>
    /// <returns>Null when it is committed; else why not: <see cref="RejectionKind.ConcurrencyConflict"/> when one had
    /// another version.</returns>
    ValueTask<Rejection?> ChangeAsync(IReadOnlyList<RecordChange> changes, CancellationToken cancellationToken);

    /// <summary>
    /// Makes a node that has no part yet a member that receives everything and is not counted; one that has a part
    /// keeps it.
    /// </summary>
    ChangeAnswer AddLearner(NodeId node);
}

/// <summary>A record to be stored, or deleted.</summary>
/// <param name="Key">Its key.</param>
/// <param name="Value">Its value; null deletes it.</param>
/// <param name="ExpectedVersion">The version that it must have, <see cref="ClusterRecord.Absent"/> if there must be
/// none; null for any.</param>
public readonly record struct RecordChange(string Key, byte[]? Value, long? ExpectedVersion);
