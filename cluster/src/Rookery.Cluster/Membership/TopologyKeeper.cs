using System.Threading.Channels;
using Rookery.Cluster.Joining;
using Rookery.Documents.Records;

namespace Rookery.Cluster.Membership;

/// <summary>
/// Records the topology for clients when it changes. Only the leader does that. In an idle cluster it writes nothing.
/// </summary>
/// <param name="readView">Returns the leader's view of the cluster; null when this node does not lead.</param>
/// <param name="recordStore">The cluster's records.</param>
/// <param name="log">Receives failures.</param>
/// <param name="time">The clock.</param>
internal sealed class TopologyKeeper(
    Func<LeaderView?> readView,
    IJoinRecordStore recordStore,
    Action<string> log,
    TimeProvider time
) : IAsyncDisposable
{
    // The number of election timeouts after which a new leader has heard from all reachable members.
    private const int TimeoutsToHear = 2;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    // The minimum time between writes for changed health, because a member on bad Wi-Fi changes often.
    private static readonly TimeSpan HealthInterval = TimeSpan.FromSeconds(5);

    private readonly CancellationTokenSource _stopping = new();
    private readonly RetriedTasks _tasks = new("The topology for clients could not be recorded", log, time);
    private readonly Channel<bool> _wakes = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite }
    );
    private ITimer? _timer;
    private Task? _loop;
    private long _term = -1;
    private long _termSeenAt;
    private long? _healthWrittenAt;

    /// <summary>Starts checking once a second and when woken.</summary>
    public void Start()
    {
        _timer = time.CreateTimer(_ => Wake(), null, TimeSpan.Zero, Interval);
        _loop = RunAsync();
    }

    /// <summary>Triggers a check. Returns at once.</summary>
    public void Wake() => _wakes.Writer.TryWrite(true);

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        if (_loop is not null)
        {
            await _timer!.DisposeAsync();
            await _loop;
        }

        _stopping.Dispose();
    }

    /// <summary>
    /// Records changes of the topology, if this node leads. A write that fails is repeated at the next check.
    /// </summary>
    public async ValueTask RecordChangesAsync(CancellationToken cancellationToken)
    {
        // A new leader waits here until it may write, so that clients learn of it without waiting for the next check.
        if (
            readView() is null
            || !(recordStore.IsLeader || await recordStore.CatchUpAsync(cancellationToken))
            || readView() is not { } view
        )
        {
            return;
        }

        var stored = recordStore.Find(TopologyRecord.Key);
        var known = stored is null ? null : TopologyRecord.Parse(stored.Value.Span);
        if (stored is not null && known is null)
        {
            return; // a newer version wrote it in an unknown format
        }

        var topology = view.ToTopology();
        var withOldHealth = topology.WithHealthOf(known);
        if (!MayReportHealth(view))
        {
            topology = withOldHealth;
        }

        bool healthChanged = !topology.EqualsExceptEtag(withOldHealth);
        bool mayWriteHealth = _healthWrittenAt is not { } written || time.GetElapsedTime(written) >= HealthInterval;
        bool mustRecord = !withOldHealth.EqualsExceptEtag(known) || (healthChanged && mayWriteHealth);
        if (!mustRecord || topology.Members.Count == 0)
        {
            return;
        }

        var updated = topology with { Etag = Math.Max((known?.Etag ?? 0) + 1, view.EtagBefore) + 1 };
        var rejection = await recordStore.ChangeAsync(
            [new RecordChange(TopologyRecord.Key, updated.ToJson(), stored?.Version ?? ClusterRecord.Absent)],
            cancellationToken
        );
        if (rejection is null && healthChanged)
        {
            _healthWrittenAt = time.GetTimestamp();
        }
    }

    /// <summary>Whether the leader has led long enough to know which members are up.</summary>
    private bool MayReportHealth(LeaderView view)
    {
        if (view.Term != _term)
        {
            _term = view.Term;
            _termSeenAt = time.GetTimestamp();
        }

        return time.GetElapsedTime(_termSeenAt) > view.ElectionTimeout * TimeoutsToHear;
    }

    private async Task RunAsync()
    {
        try
        {
            await foreach (bool _ in _wakes.Reader.ReadAllAsync(_stopping.Token))
            {
                await _tasks.TryAsync(async () => await RecordChangesAsync(_stopping.Token), _stopping.Token);
            }
        }
        catch (OperationCanceledException)
        {
            // The node is stopping.
        }
    }
}
