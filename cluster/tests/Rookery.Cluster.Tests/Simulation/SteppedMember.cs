using System.Globalization;
using System.Text;
using Rookery.Board;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>A member without threads: the real store and consensus on a simulated disk.</summary>
internal sealed class SteppedMember
{
    public const string Directory = "/data/node";

    /// <summary>The reserve of its store, in bytes.</summary>
    public const long ReserveBytes = 1 << 20;

    private readonly SteppedCluster _cluster;
    private readonly bool _mayBegin;
    private readonly NodeIds _ids;
    private bool _isWriting;
    private bool _isInWrite;
    private bool _isApplying;
    private long _pausedUntil; // in microseconds of the cluster's time
    private double _stallMilliseconds; // of the next sync; 0 for no stall

    /// <summary>A member that is not started yet.</summary>
    /// <param name="cluster">Its cluster.</param>
    /// <param name="number">0 for A, 1 for B …</param>
    /// <param name="mayBegin">Whether it founds the cluster at its first start; otherwise it waits to be added.</param>
    public SteppedMember(SteppedCluster cluster, int number, bool mayBegin)
    {
        _cluster = cluster;
        _mayBegin = mayBegin;
        Name = ((char)('A' + number)).ToString();
        _ids = new NodeIds(new string((char)('a' + number), 22), new string('c', 22));
        Id = Members.IdOf(_ids.NodeId);
        Time = new SkewedTime(cluster.Time);
    }

    /// <summary>A for the first member, B for the second.</summary>
    public string Name { get; }

    /// <summary>The memory of the member from its next start on.</summary>
    public MemoryBudget Memory { get; set; } = new(16 << 20);

    public SimulatedPeers? Peers { get; private set; }

    public Raft.NodeId Id { get; }

    public string NodeId => _ids.NodeId;

    public SkewedTime Time { get; }

    public SimulatedBoard Board { get; } = new();

    public SimulatedDisk Disk { get; private set; } = new("/data");

    public NodeStore? Store { get; private set; }

    public RaftConsensus? Consensus { get; private set; }

    /// <summary>Whether it is running.</summary>
    public bool IsUp => Consensus is not null;

    /// <summary>The newest format level that its program supports; applies from its next start.</summary>
    public int NewestFormatLevel { get; set; } = FormatLevel.First.Level;

    /// <summary>The number of its starts.</summary>
    public int Starts { get; private set; }

    /// <summary>The remaining time of its pause. Events for the member wait until then.</summary>
    public double PausedMilliseconds => Math.Max(0, _pausedUntil - _cluster.Now) / 1000.0;

    /// <summary>Whether a sync of its journal is stalled.</summary>
    public bool IsStalled { get; private set; }

    /// <summary>The longest duration of its disk's writes.</summary>
    public double LongestWriteMilliseconds { get; set; } = 2;

    /// <summary>The broken rule of consensus that it reported; null for none.</summary>
    public string? Halt { get; private set; }

    /// <summary>The messages that it reported to the operator.</summary>
    public List<string> Troubles { get; } = [];

    public override string ToString() => Name;

    /// <summary>Starts it from its disk.</summary>
    public void Open()
    {
        Starts++;
        (_isWriting, _isInWrite, _isApplying, IsStalled) = (false, false, false, false);
        (_pausedUntil, _stallMilliseconds) = (0, 0);
        Peers = new SimulatedPeers(this, _cluster.Wire);
        Store = OpenStore(_cluster.WrapDisk(this, Disk));
        Store.Attachments.RunsInline = true;
        try
        {
            Consensus = RaftConsensus.Open(
                Store,
                new ConsensusOptions
                {
                    Network = Peers,
                    MayFoundCluster = _mayBegin,
                    Seed = _cluster.Random.Next(),
                    Core = new CoreOptions
                    {
                        CautionMicroseconds = _cluster.CautionMicroseconds,
                        MaxMessageBytes = _cluster.MaxMessageBytes,
                    },
                    CachedBytes = 8 << 10,
                    RetainedJournalBytes = _cluster.RetainedJournalBytes,
                    TroubleFound = Troubles.Add,
                    RecordHaltAndExplain = sentence => Halt = sentence,
                    IsClockSynchronised = () => Time.IsSynchronised,
                    BoardPenalty = () => (int)BoardPolicy.ConditionOf(Board.Next),
                    AnswersInline = true,
                    EndProcess = static _ => { },
                    RunInBackground = work => After(_cluster.Random.NextDouble() * 3, work),
                    FetchState = (from, cancellationToken) =>
                        _cluster.Wire.FetchStateAsync(this, from, cancellationToken),
                    ContentPeers = new SimulatedContentPeers(this, _cluster),
                }
            );
        }
        catch
        {
            Store.Dispose();
            throw;
        }

        ScheduleTick();
        ScheduleBackgroundWork();
        ScheduleWork();
    }

    /// <summary>Opens the store of a disk as a start does, without consensus.</summary>
    public NodeStore OpenStore(IDisk disk) =>
        NodeStore.Open(
            new NodeOptions
            {
                DataDirectory = Directory,
                NewIds = _ids,
                SegmentBytes = 64 << 10,
                MemtableBytes = 48 << 10,
                RunBytes = 32 << 10,
                Reserve = new ReserveRule(ReserveBytes, Fraction: 0),
                HasPeers = true,
                NewestFormatLevel = NewestFormatLevel,
                TroubleFound = Troubles.Add,
            },
            disk,
            Memory,
            SilentRecorder.Instance,
            Time
        );

    /// <summary>Stops it cleanly, like an operator.</summary>
    public void StopCleanly()
    {
        Consensus!.Host.BeginShutdown();
        Consensus.RunUntilIdle();
        try
        {
            Store!.Journal.StopCleanly();
        }
        catch (JournalLatchedException)
        {
            // The journal has just failed. The member stops without the record of a clean stop.
        }

        Kill();
    }

    /// <summary>Kills the process; the operating system and the disk continue.</summary>
    public void Kill()
    {
        Peers!.IsDead = true;
        IsStalled = false;
        Consensus?.Dispose();
        Store?.Dispose();
        (Consensus, Store) = (null, null);
        Disk.KillProcess();
    }

    /// <summary>
    /// Leaves this many bytes free on its disk beyond the reserve; a negative number leaves less than the reserve.
    /// </summary>
    public void SetSpareBytes(long spareBytes) => Disk.CapacityBytes = Disk.UsedBytes + ReserveBytes + spareBytes;

    /// <summary>Makes space on its disk.</summary>
    public void MakeRoom() => Disk.CapacityBytes = 1L << 40;

    /// <summary>Cuts its power: unsynced data may be lost in part.</summary>
    public void LosePower()
    {
        var before = Disk;
        Kill();
        Disk = before.AfterPowerLoss(_cluster.Random.NextInt64());
    }

    /// <summary>Cuts the power of a disk that has ignored every sync since an operation.</summary>
    public void LoseAllSince(int operation)
    {
        var before = Disk;
        Kill();
        Disk = before.CrashAt(operation, _cluster.Random.NextInt64());
    }

    /// <summary>
    /// Cuts its power within a journal write, if one is due. Messages that would follow are not sent.
    /// </summary>
    public void LosePowerWhileWriting()
    {
        Peers!.IsDead = true;
        int before = Disk.OperationCount;
        var stopping = Consensus!;
        Consensus = null;
        stopping.Writes.WriteOnce();
        stopping.Dispose();
        Store!.Dispose();
        Store = null;
        int crashOperation = before + _cluster.Random.Next(Disk.OperationCount - before + 1);
        Disk = Disk.CrashAt(crashOperation, _cluster.Random.NextInt64());
    }

    /// <summary>
    /// Pauses its process, even in the middle of work. After the pause all waiting events arrive at once.
    /// </summary>
    public void Pause(double milliseconds) => _pausedUntil = _cluster.Now + (long)(milliseconds * 1000);

    /// <summary>Stalls the next sync of its journal. Its process continues meanwhile.</summary>
    public void StallNextSync(double milliseconds) => _stallMilliseconds = milliseconds;

    /// <summary>Waits for a sync. While it stalls, all other work continues, also on this member.</summary>
    public void AwaitDisk()
    {
        if (!_isInWrite || _stallMilliseconds == 0)
        {
            return;
        }

        (int start, double milliseconds) = (Starts, _stallMilliseconds);
        (IsStalled, _stallMilliseconds) = (true, 0);
        _cluster.RunFor(milliseconds);
        while (PausedMilliseconds > 0)
        {
            _cluster.RunFor(PausedMilliseconds);
        }

        if (Starts != start || !IsUp)
        {
            // The process to return to has ended.
            throw new DiskException("sync", Directory, Errno.InputOutput);
        }

        IsStalled = false;
    }

    /// <summary>Proposes a command, after a pause of the process if there is one.</summary>
    public Task<CommandOutcome> Propose(CommandBuffer command) =>
        PausedMilliseconds > 0
            ? ProposeLaterAsync(command)
            : Consensus!.ProposeAsync(command, CancellationToken.None).AsTask();

    /// <summary>Returns the value and etag that a local read finds; zeros when the document does not exist.</summary>
    public (long Value, long Etag) Peek(string id)
    {
        if (!Store!.Databases.TryGet("db", out var database))
        {
            return default;
        }

        using var reader = database.OpenReader();
        if (!reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document))
        {
            return default;
        }

        using (document)
        {
            string body = Encoding.UTF8.GetString(document.View.Body);
            int start = body.IndexOf("\"n\":", StringComparison.Ordinal) + 4;
            int end = start;
            while (end < body.Length && char.IsAsciiDigit(body[end]))
            {
                end++;
            }

            return (long.Parse(body.AsSpan(start, end - start), CultureInfo.InvariantCulture), document.Etag);
        }
    }

    /// <summary>
    /// Reads with a read barrier, so that all writes acknowledged before are visible; null when the member cannot do
    /// that now.
    /// </summary>
    public async Task<(long Value, long Etag)?> ReadAsync(string id) =>
        (PausedMilliseconds == 0 || await WaitForPauseEndAsync()) && await Consensus!.ReadBarrierAsync() && IsUp
            ? Peek(id)
            : null;

    /// <summary>Schedules its next work. Called after each event.</summary>
    public void ScheduleWork()
    {
        if (Consensus is not { } consensus)
        {
            return;
        }

        if (!_isWriting && (consensus.Writes.HasWork || consensus.Proposals.Queue.Count > 0))
        {
            _isWriting = true;
            After(
                0.1 + (_cluster.Random.NextDouble() * LongestWriteMilliseconds),
                () =>
                {
                    int start = Starts;
                    _isInWrite = true;
                    Consensus!.Writes.WriteOnce();
                    if (Starts == start)
                    {
                        (_isWriting, _isInWrite) = (false, false);
                    }
                }
            );
        }

        if (!_isApplying && consensus.Applies.HasToApply)
        {
            _isApplying = true;
            After(
                _cluster.Random.NextDouble() * _cluster.LongestApplyMilliseconds,
                () =>
                {
                    // A test may run further events within the call.
                    int start = Starts;
                    Consensus!.Applies.ApplyOnce();
                    if (Starts == start)
                    {
                        _isApplying = false;
                    }
                }
            );
        }
    }

    private void ScheduleTick() =>
        After(
            milliseconds: 50,
            () =>
            {
                Consensus!.Ticker.Tick();
                ScheduleTick();
            }
        );

    private void ScheduleBackgroundWork() =>
        After(
            _cluster.Random.Next(40, 400),
            () =>
            {
                try
                {
                    Store!.Attachments.Maintenance.DoRound();
                    Store!.Background.DoStep();
                }
                catch (DiskException)
                {
                    // The next round tries again.
                }

                ScheduleBackgroundWork();
            }
        );

    private async Task<CommandOutcome> ProposeLaterAsync(CommandBuffer command)
    {
        if (await WaitForPauseEndAsync())
        {
            return await Consensus!.ProposeAsync(command, CancellationToken.None);
        }

        command.Dispose();
        return new CommandOutcome(new Rejection(RejectionKind.OutcomeUnknown, "It died before it read the request."));
    }

    /// <summary>Waits until the member continues; returns false when it has ended.</summary>
    private async Task<bool> WaitForPauseEndAsync()
    {
        int start = Starts;
        while (PausedMilliseconds > 0)
        {
            await _cluster.Pause(PausedMilliseconds);
        }

        return IsUp && Starts == start;
    }

    // Schedules work of this process: after its pause if there is one, and never if it has ended.
    private void After(double milliseconds, Action work)
    {
        int start = Starts;
        _cluster.After(milliseconds, Run);

        void Run()
        {
            if (Starts != start || !IsUp)
            {
                return;
            }

            if (PausedMilliseconds is > 0 and var paused)
            {
                _cluster.After(paused, Run);
            }
            else
            {
                work();
            }
        }
    }
}
