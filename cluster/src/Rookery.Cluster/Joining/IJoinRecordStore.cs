using Rookery.Documents.Consensus;
using Rookery.Documents.Records;
using Rookery.Raft;

namespace Rookery.Cluster.Joining;

/// <summary>
/// The cluster's records and learners, as needed to admit nodes. Implemented by <see cref="ClusterRecordStore"/>, and
/// in memory for tests.
/// </summary>
public interface IJoinRecordStore
{
    /// <summary>Whether this node is the leader. Only a leader changes the members.</summary>
    bool IsLeader { get; }

    /// <summary>
    /// The addresses for members (<c>host:port</c>) of the leader that this node knows; empty if it knows none.
    /// </summary>
    IReadOnlyList<string> LeaderAddresses { get; }

    /// <summary>
    /// The cluster's time as this node estimates it. Tokens expire by this time, not by a node's clock.
    /// </summary>
    ClusterTime Time { get; }

    /// <summary>
    /// Waits until reads on this node see every change acknowledged before the call. Returns false when this node
    /// cannot promise that now.
    /// </summary>
    ValueTask<bool> CatchUpAsync(CancellationToken cancellationToken);

    /// <summary>Returns a record, or null.</summary>
    ClusterRecord? Find(string key);

    /// <summary>Returns all records whose keys begin with a prefix, in key order.</summary>
    IReadOnlyList<ClusterRecord> List(string prefix);

    /// <summary>Changes records atomically.</summary>
    /// <returns>Null when the changes are committed; otherwise why not: <see cref="RejectionKind.ConcurrencyConflict"/>
    /// when a record had another version.</returns>
    ValueTask<Rejection?> ChangeAsync(IReadOnlyList<RecordChange> changes, CancellationToken cancellationToken);

    /// <summary>
    /// Makes a node a learner, which receives all entries and does not count for majorities. A node that is a member
    /// already keeps its role.
    /// </summary>
    ChangeAnswer AddLearner(NodeId node);
}

/// <summary>A change of one record.</summary>
/// <param name="Key">The record's key.</param>
/// <param name="Value">The new value; null deletes the record.</param>
/// <param name="ExpectedVersion">The version that the record must have, <see cref="ClusterRecord.Absent"/> if it must
/// not exist; null for any.</param>
public readonly record struct RecordChange(string Key, byte[]? Value, long? ExpectedVersion);
