using System.Collections.Concurrent;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Rookery.Documents.Consensus;
using Rookery.Platform;
using Rookery.Server.Alerts;
using Rookery.Server.Support;

namespace Rookery.Server.Observation;

/// <summary>
/// Samples of this node and of all other members, for the dashboard. This node takes a sample of itself every ten
/// seconds and keeps it for a day. It also polls the samples of every other member, so that the last hours of a failed
/// member are known. All samples are in memory: an idle node writes nothing for them. While a browser shows the
/// dashboard, all members are polled every second.
/// </summary>
internal sealed class NodeObservation : IHostedService, IDisposable
{
    private readonly ServerContext _context;
    private readonly Lock _gate = new();
    private readonly ConcurrentDictionary<string, Member> _others = new(StringComparer.Ordinal);
    private readonly CancellationTokenSource _stopping = new();
    private CancellationTokenSource _watchBegins = new();
    private TaskCompletionSource _sampled = NewSignal();
    private ITimer? _timer;
    private int _watchers;
    private long _watchedSince;
    private int _isSampling;

    public NodeObservation(ServerContext context)
    {
        _context = context;
        Memory = context.Memory.AddShare("observation", 3 * (SampleHistory.MaxBytes + (64 << 10)));
        Sampler = new NodeSampler(context);
        Self = new ObservedNode(context.Options.NodeTag, Memory, context.Time);
    }

    /// <summary>Memory that the histories use.</summary>
    public MemoryShare Memory { get; }

    /// <summary>Takes samples of this node.</summary>
    public NodeSampler Sampler { get; }

    /// <summary>What is known of this node.</summary>
    public ObservedNode Self { get; }

    /// <summary>The other members that this node has polled, by tag.</summary>
    public IReadOnlyList<ObservedNode> Others =>
        [
            .. _others
                .Values.Select(static member => member.Observed)
                .OrderBy(static observed => observed.Tag, StringComparer.Ordinal),
        ];

    /// <summary>Whether a browser shows the dashboard.</summary>
    public bool IsWatched => Volatile.Read(ref _watchers) > 0;

    /// <summary>How long a browser has shown the dashboard; zero if none does now.</summary>
    public TimeSpan WatchedFor =>
        IsWatched ? _context.Time.GetElapsedTime(Volatile.Read(ref _watchedSince)) : TimeSpan.Zero;

    /// <summary>Cancelled when a browser opens the dashboard.</summary>
    public CancellationToken WatchBegins
    {
        get
        {
            lock (_gate)
            {
                return _watchBegins.Token;
            }
        }
    }

    /// <summary>Completes when the next sample is recorded.</summary>
    public Task NextSample => Volatile.Read(ref _sampled).Task;

    /// <summary>The alerts of the other members, from their last answers.</summary>
    public IReadOnlyList<MemberAlert> AlertsOfOthers =>
        [.. Others.SelectMany(static other => other.LastAnswer?.Alerts ?? [])];

    /// <summary>Returns the samples of a member or of this node; null for an unknown tag.</summary>
    public ObservedNode? Find(string tag) =>
        string.Equals(tag, Self.Tag, StringComparison.Ordinal)
            ? Self
            : _others
                .Values.FirstOrDefault(member => string.Equals(member.Observed.Tag, tag, StringComparison.Ordinal))
                ?.Observed;

    /// <summary>
    /// Returns all slow events of this node. Events since its start come from its own timeline; earlier events come
    /// from what other members kept.
    /// </summary>
    public IReadOnlyList<SlowEvent> OwnSlowEvents(long sinceUnixMicroseconds)
    {
        var own = _context
            .Io.SlowEventsSince(sinceUnixMicroseconds)
            .Select(static ioEvent => SlowEvent.Of(ioEvent))
            .ToList();
        var known = own.ToHashSet();
        return
        [
            .. Self
                .Slow.Since(sinceUnixMicroseconds)
                .Where(slowEvent => !known.Contains(slowEvent))
                .Concat(own)
                .OrderBy(static slowEvent => slowEvent.StartUnixMicroseconds),
        ];
    }

    /// <summary>Counts a browser that shows the dashboard, until the result is disposed.</summary>
    public IDisposable Watch()
    {
        CancellationTokenSource? begins = null;
        lock (_gate)
        {
            if (_watchers++ == 0)
            {
                Volatile.Write(ref _watchedSince, _context.Time.GetTimestamp());
                begins = _watchBegins;
                _watchBegins = new CancellationTokenSource();
            }
        }

        begins?.Cancel();
        return new Watching(this);
    }

    /// <inheritdoc/>
    public Task StartAsync(CancellationToken cancellationToken)
    {
        if (!_context.Options.IsObserved)
        {
            return Task.CompletedTask;
        }

        Sample();
        _timer = _context.Time.CreateTimer(
            static self => ((NodeObservation)self!).Sample(),
            this,
            SampleHistory.Span,
            SampleHistory.Span
        );
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        _timer?.Dispose();
        await _stopping.CancelAsync();
        await Task.WhenAll(_others.Values.Select(static member => member.Watching));
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _timer?.Dispose();
        _stopping.Dispose();
        _watchBegins.Dispose();
    }

    private void Sample()
    {
        // If a disk hangs while a sample is taken, no second sample begins.
        if (_stopping.IsCancellationRequested || Interlocked.Exchange(ref _isSampling, 1) != 0)
        {
            return;
        }

        try
        {
            var sample = Sampler.TakeToKeep();
            Self.History.Add(sample.UnixMilliseconds, sample.All);
            Interlocked.Exchange(ref _sampled, NewSignal()).SetResult();
            UpdateMembers();
        }
        catch (Exception failure) when (failure is not InvariantViolationException)
        {
            // The next sample tries again; nothing else depends on this one.
            _context.Log.LogWarning(LogEvents.SampleFailed, failure, "This node could not be sampled");
        }
        finally
        {
            Volatile.Write(ref _isSampling, 0);
        }
    }

    /// <summary>Begins to poll members that were added, and forgets members that were removed.</summary>
    private void UpdateMembers()
    {
        if (
            _context.Options.ConnectToMember is null
            || _context.Readiness.Node?.ReadStatistics()?.Consensus is not { } cluster
        )
        {
            return;
        }

        var current = cluster
            .Members.Where(static statistics => !statistics.Member.IsSelf)
            .Select(static statistics => statistics.Member)
            .ToDictionary(static member => member.NodeId, StringComparer.Ordinal);
        foreach (var (nodeId, known) in _others)
        {
            // A node that was removed or halted no longer knows the members. It keeps the samples that it has.
            if (
                current.Count > 0
                && (
                    !current.TryGetValue(nodeId, out var member)
                    || !string.Equals(member.Tag, known.Observed.Tag, StringComparison.Ordinal)
                )
                && _others.TryRemove(nodeId, out _)
            )
            {
                known.Stopping.Cancel();
            }
        }

        foreach (var (nodeId, member) in current)
        {
            if (!_others.ContainsKey(nodeId))
            {
                _others[nodeId] = BeginPolling(nodeId, member);
            }
        }
    }

    private Member BeginPolling(string nodeId, ClusterViewMember member)
    {
        var observed = new ObservedNode(member.Tag, Memory, _context.Time);
        var stop = CancellationTokenSource.CreateLinkedTokenSource(_stopping.Token);
        return new Member(
            observed,
            stop,
            SocketThreads.RunOnPoolAsync(() =>
                RunAsync(new MemberWatch(_context, this, observed, nodeId), observed, stop)
            )
        );
    }

    private async Task RunAsync(MemberWatch watch, ObservedNode observed, CancellationTokenSource stop)
    {
        try
        {
            await watch.RunAsync(stop.Token);
        }
        catch (OperationCanceledException)
        {
            // The node stops, or the member was removed.
        }
        catch (Exception failure)
        {
            _context.Log.LogError(
                LogEvents.WatchFailed,
                failure,
                "This node stopped watching another member because of an error in Rookery"
            );
        }

        // Releases the memory of a removed member here: its last answer may have arrived during the removal.
        if (stop.IsCancellationRequested && !_stopping.IsCancellationRequested)
        {
            observed.History.Clear();
            observed.Slow.Clear();
            stop.Dispose();
        }
    }

    private void Unwatch()
    {
        lock (_gate)
        {
            _watchers--;
        }
    }

    private static TaskCompletionSource NewSignal() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private sealed record Member(ObservedNode Observed, CancellationTokenSource Stopping, Task Watching);

    private sealed class Watching(NodeObservation observation) : IDisposable
    {
        private int _isOver;

        public void Dispose()
        {
            if (Interlocked.Exchange(ref _isOver, 1) == 0)
            {
                observation.Unwatch();
            }
        }
    }
}
