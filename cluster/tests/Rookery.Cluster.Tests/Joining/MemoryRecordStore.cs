using Rookery.Cluster.Joining;
using Rookery.Documents.Consensus;
using Rookery.Documents.Records;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Joining;

/// <summary>The records of a cluster, in memory.</summary>
internal sealed class MemoryRecordStore : IJoinRecordStore
{
    private readonly SortedDictionary<string, ClusterRecord> _records = new(StringComparer.Ordinal);
    private long _version;

    public bool IsLeader { get; set; } = true;

    public IReadOnlyList<string> LeaderAddresses { get; set; } = [];

    /// <summary>Returns the cluster's time.</summary>
    public Func<ClusterTime> Clock { get; set; } = static () => default;

    public ClusterTime Time => Clock();

    /// <summary>The nodes that <see cref="AddLearner"/> has added.</summary>
    public List<NodeId> Learners { get; } = [];

    /// <summary>The answers of the next calls of <see cref="AddLearner"/>, before they succeed.</summary>
    public Queue<ChangeAnswer> LearnerAnswers { get; } = new();

    /// <summary>Runs before the next change, as a concurrent one.</summary>
    public Action? BeforeChange { get; set; }

    /// <summary>The number of stored changes.</summary>
    public int Changes { get; private set; }

    /// <summary>
    /// Completes when a leader answers, with whether this node has caught up; null to complete at once.
    /// </summary>
    public TaskCompletionSource<bool>? CaughtUp { get; init; }

    /// <summary>The number of callers that wait for <see cref="CaughtUp"/>.</summary>
    public int Waiting { get; private set; }

    public async ValueTask<bool> CatchUpAsync(CancellationToken cancellationToken)
    {
        if (CaughtUp is null)
        {
            return true;
        }

        Waiting++;
        bool hasCaughtUp = await CaughtUp.Task.WaitAsync(cancellationToken);
        Waiting--;
        return hasCaughtUp;
    }

    public ClusterRecord? Find(string key) => _records.GetValueOrDefault(key);

    public IReadOnlyList<ClusterRecord> List(string prefix) =>
        [.. _records.Values.Where(record => record.Key.StartsWith(prefix, StringComparison.Ordinal))];

    public ValueTask<Rejection?> ChangeAsync(IReadOnlyList<RecordChange> changes, CancellationToken cancellationToken)
    {
        var before = BeforeChange;
        BeforeChange = null;
        before?.Invoke();
        if (
            changes.Any(change =>
                change.ExpectedVersion is { } expected
                && (Find(change.Key)?.Version ?? ClusterRecord.Absent) != expected
            )
        )
        {
            return ValueTask.FromResult<Rejection?>(
                new Rejection(RejectionKind.ConcurrencyConflict, "A record has another version.")
            );
        }

        foreach (var change in changes)
        {
            Assert.True(ClusterRecord.IsKey(change.Key), change.Key);
            _records.Remove(change.Key);
            if (change.Value is { } value)
            {
                _records.Add(change.Key, new ClusterRecord(change.Key, value, ++_version));
            }
        }

        Changes++;
        return ValueTask.FromResult<Rejection?>(null);
    }

    public ChangeAnswer AddLearner(NodeId node)
    {
        if (LearnerAnswers.TryDequeue(out var answer))
        {
            return answer;
        }

        if (Learners.Contains(node))
        {
            return ChangeAnswer.NothingToDo;
        }

        Learners.Add(node);
        return ChangeAnswer.Accepted;
    }
}
