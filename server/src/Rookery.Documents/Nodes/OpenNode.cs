using Rookery.Documents.Attachments;
using Rookery.Documents.Backups;
using Rookery.Documents.Consensus;
using Rookery.Documents.Schedules;

namespace Rookery.Documents.Nodes;

/// <summary>A node that reads and writes. It runs consensus and the maintenance thread on its store.</summary>
internal sealed class OpenNode : Node
{
    // Number of journal writes after which the maintenance thread is woken to check for a spare segment.
    private const int WritesBetweenWakes = 256;

    private readonly NodeStore _store;
    private readonly IConsensusHost _consensus;
    private readonly NodeMaintenance _maintenance;
    private readonly ScheduledWork _scheduled;
    private readonly TombstoneCleaning _tombstones;
    private readonly ITimer _cleanupTimer;
    private readonly TimeSpan _longestInterval;
    private readonly CancellationTokenSource _stopping = new();
    private string? _diagnosis;
    private readonly TimeProvider _time;
    private int _isCleaningUp;
    private int _isCleanupAsked; // whether another round was requested during the current one
    private long? _tombstonesCleanedAt;
    private int _writesSinceWake;
    private bool _isStopped;

    public OpenNode(NodeStore store, IConsensusHost consensus, NodeOptions options, TimeProvider time)
        : base(store.Databases, store.ClusterRecords, consensus)
    {
        _store = store;
        _consensus = consensus;
        store.Databases.Clock.Start(() => consensus.Time);
        _time = time;
        consensus.DiagnosisModeEntered = sentence =>
        {
            Volatile.Write(ref _diagnosis, sentence);
            options.TroubleFound?.Invoke(sentence);
        };
        consensus.JournalWritten = WakeMaintenanceIfDue;
        _maintenance = new NodeMaintenance(store, options.TroubleFound, time);
        _scheduled = new ScheduledWork(store.Databases, consensus, time);
        _tombstones = new TombstoneCleaning(store, consensus);
        if (store.Attachments.Files.RemoveUnfinished() is { } leftover)
        {
            options.TroubleFound?.Invoke(leftover);
        }

        _maintenance.Start();
        consensus.Start();
        _longestInterval = options.ExpirationInterval;
        var interval = FindInterval();
        _cleanupTimer = time.CreateTimer(_ => BeginCleanup(), null, interval, interval);
        if (_longestInterval != Timeout.InfiniteTimeSpan)
        {
            // A round begins at once, and follows the new configuration.
            store.Databases.Configured = () => _cleanupTimer.Change(TimeSpan.Zero, _longestInterval);
        }
    }

    /// <inheritdoc/>
    public override string? Diagnosis => Volatile.Read(ref _diagnosis);

    /// <inheritdoc/>
    public override bool HasOpened => true;

    /// <inheritdoc/>
    public override string NodeId => _store.NodeId;

    /// <inheritdoc/>
    public override string ClusterId => _store.ClusterId;

    /// <inheritdoc/>
    public override FormatLevel FormatLevel => _store.FormatLevel;

    /// <inheritdoc/>
    public override double BackgroundShare
    {
        get => _store.Background.Pacer.Share;
        set
        {
            _store.Background.Pacer.Share = value;
            _store.Attachments.Maintenance.Pacer.Share = value;
        }
    }

    /// <inheritdoc/>
    public override bool IsMaintaining => _maintenance.IsWorking;

    /// <inheritdoc/>
    public override bool HasRoom => _store.Space.Data.AllowsGrowth;

    /// <inheritdoc/>
    public override bool HasReapplied(long sequence) => _store.HasReapplied(sequence);

    /// <inheritdoc/>
    public override AttachmentContents Attachments => _store.Attachments;

    /// <inheritdoc/>
    public override long BackgroundSteps => _maintenance.Steps;

    /// <inheritdoc/>
    public override NodeStatistics ReadStatistics() => ReadStatistics(_store, _consensus);

    /// <inheritdoc/>
    public override Task<NodeBackup> BeginBackupAsync() =>
        Diagnosis is null ? _store.Background.DoAsync(_store.BeginBackup) : base.BeginBackupAsync();

    /// <inheritdoc/>
    public override Task MergeFilesAsync(CancellationToken ending) => new FileMerge(_store).RunAsync(ending);

    /// <inheritdoc/>
    public override void StopCleanly()
    {
        StopThreads();
        if (Diagnosis is null)
        {
            try
            {
                _store.Journal.StopCleanly();
            }
            catch (IOException failure)
            {
                // All acknowledged writes are durable already; the next start recovers as after a crash.
                Volatile.Write(ref _diagnosis, failure.Message);
            }
        }

        Dispose();
    }

    /// <inheritdoc/>
    public override void Dispose()
    {
        StopThreads();
        _consensus.Dispose();
        _store.Dispose();
        _stopping.Dispose();
    }

    private void StopThreads()
    {
        if (_isStopped)
        {
            return;
        }

        _isStopped = true;
        _stopping.Cancel();
        _cleanupTimer.Dispose();
        _consensus.Stop();
        _maintenance.Dispose();
        _store.Attachments.Dispose();
    }

    private void WakeMaintenanceIfDue()
    {
        if (++_writesSinceWake >= WritesBetweenWakes)
        {
            _writesSinceWake = 0;
            _maintenance.Wake();
        }
    }

    private void BeginCleanup()
    {
        // The request is recorded before the exchange. So a round that is ending either sees the request, or has ended
        // before the exchange, which then begins a new round.
        Volatile.Write(ref _isCleanupAsked, 1);
        if (Interlocked.Exchange(ref _isCleaningUp, 1) == 0)
        {
            Volatile.Write(ref _isCleanupAsked, 0);
            _ = CleanUpAsync();
        }
    }

    private TimeSpan FindInterval() =>
        _longestInterval == Timeout.InfiniteTimeSpan ? _longestInterval : _scheduled.FindInterval(_longestInterval);

    /// <summary>
    /// Deletes expired documents, refreshes and archives documents and removes old tombstones, once.
    /// </summary>
    private async Task CleanUpAsync()
    {
        try
        {
            await _scheduled.RunOnceAsync(FindInterval(), _stopping.Token);
            if (_tombstonesCleanedAt is not { } last || _time.GetElapsedTime(last) >= _longestInterval / 2)
            {
                _tombstonesCleanedAt = _time.GetTimestamp();
                await _tombstones.RunOnceAsync(_stopping.Token);
            }
        }
        catch (Exception failure) when (failure is IOException or ObjectDisposedException)
        {
            // A disk operation failed, or the node stopped meanwhile.
        }
        finally
        {
            Volatile.Write(ref _isCleaningUp, 0);
            var interval = FindInterval();
            bool isAsked = Interlocked.Exchange(ref _isCleanupAsked, 0) != 0;
            _cleanupTimer.Change(isAsked ? TimeSpan.Zero : interval, interval);
        }
    }
}
