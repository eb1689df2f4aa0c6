using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Records;
using Rookery.Raft;

namespace Rookery.Cluster.Joining;

/// <summary>The cluster records of a running member, changed through consensus.</summary>
/// <param name="consensus">Proposes the changes.</param>
/// <param name="records">The records as applied on this node.</param>
/// <param name="addLearner">Makes a node a learner.</param>
public sealed class ClusterRecordStore(
    IConsensus consensus,
    ClusterRecords records,
    Func<NodeId, ChangeAnswer> addLearner
) : IJoinRecordStore
{
    /// <inheritdoc/>
    public bool IsLeader => consensus.IsLeader;

    /// <inheritdoc/>
    public IReadOnlyList<string> LeaderAddresses =>
        MemberRecord
            .All(this)
            .FirstOrDefault(member => string.Equals(member.Record.Tag, consensus.LeaderTag, StringComparison.Ordinal))
            .Record?.Addresses
        ?? [];

    /// <inheritdoc/>
    public ClusterTime Time => consensus.Time;

    /// <inheritdoc/>
    public ValueTask<bool> CatchUpAsync(CancellationToken cancellationToken) => consensus.ReadBarrierAsync();

    /// <inheritdoc/>
    public ClusterRecord? Find(string key) => records.TryGet(key, out var record) ? record : null;

    /// <inheritdoc/>
    public IReadOnlyList<ClusterRecord> List(string prefix) => records.List(prefix);

    /// <inheritdoc/>
    public async ValueTask<Rejection?> ChangeAsync(
        IReadOnlyList<RecordChange> changes,
        CancellationToken cancellationToken
    )
    {
        using var writer = new ClusterRecordWriter();
        foreach (var change in changes)
        {
            if (change.Value is { } value)
            {
                writer.Set(change.Key, value, change.ExpectedVersion);
            }
            else
            {
                writer.Delete(change.Key, change.ExpectedVersion);
            }
        }

        return (await consensus.ProposeAsync(writer.Complete(), cancellationToken)).Rejection;
    }

    /// <inheritdoc/>
    public ChangeAnswer AddLearner(NodeId node) => addLearner(node);
}
