using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>The node's clock for the core, the cluster's time from it, and the times of the entries.</summary>
/// <remarks>The lock of <see cref="RaftHost"/> guards all fields but the last reading.</remarks>
internal sealed class ClusterTimeSource(RaftHost host, NodeStore store)
{
    // A clock may be set at any time. Between two readings the monotonic time goes on from the last.
    private const long ClockIntervalMicroseconds = 1_000_000;

    private long _clockReadAt = long.MinValue / 2;
    private ReadTime? _readTime;
    private long _lastLogTicks;
    private long _lastLogTicksTerm;

    /// <summary>The cluster's time, as far as this node knows it.</summary>
    /// <remarks>
    /// Each request with a token that ends asks for it. While a state is put in place the lock is held for seconds on a
    /// slow card; the last reading goes on meanwhile.
    /// </remarks>
    public ClusterTime Now
    {
        get
        {
            if (!host.Gate.TryEnter())
            {
                if (Volatile.Read(ref _readTime) is { } known)
                {
                    return known.At(host.Now);
                }

                host.Gate.Enter();
            }

            try
            {
                ReadIfDue();
                if (_readTime is null)
                {
                    KeepTime(host.Now);
                }

                var (ticks, isSure) = host.Core.ReadClock(host.Now);
                return new ClusterTime(ticks, isSure);
            }
            finally
            {
                host.Gate.Exit();
            }
        }
    }

    /// <summary>
    /// Whether the last log time is of the term that this node leads in: else an entry of another leader may be later.
    /// Under the lock.
    /// </summary>
    public bool HoldsLogTime => _lastLogTicksTerm == host.Core.Term;

    /// <summary>An operator says that the clocks of the voters are right. On the leader.</summary>
    /// <returns>What came of it, and a sentence that says so.</returns>
    public (ClockAnswer Answer, string Sentence) Confirm()
    {
        lock (host.Gate)
        {
            ReadIfDue();
            host.Step(Input.ConfirmClock(host.Now));
            var answer = host.IsHalted ? ClockAnswer.NotLeader : host.Output.ClockAnswer;
            host.EndStep();
            return (answer, ClockStatus.Say(answer, host.Core.ReadClock(host.Now).UtcTicks));
        }
    }

    /// <summary>The time of the frame that is proposed next. Under the lock, by who has the turn.</summary>
    public LogTime NextLogTime()
    {
        ReadIfDue();
        var time = host.Core.TimeAfter(host.Now, _lastLogTicks);
        _lastLogTicks = time.Ticks;
        return time;
    }

    /// <summary>
    /// What was applied before this node may propose is the last of the log: of what it proposed in an earlier term,
    /// others may have replaced some.
    /// </summary>
    public void TellLogTime()
    {
        lock (host.Gate)
        {
            ReadIfDue();
            (_lastLogTicks, _lastLogTicksTerm) = (store.LastLogTicks, host.Core.Term);
            host.Step(Input.LogTime(host.Now, _lastLogTicks));
        }
    }

    /// <summary>
    /// A node alone has no ticks, so whoever wants to know the time looks. Under the lock, not within a step.
    /// </summary>
    public void ReadIfDue()
    {
        long now = host.Now;
        if (now - _clockReadAt >= ClockIntervalMicroseconds)
        {
            _clockReadAt = now;
            host.Step(
                Input.ReadClock(
                    now,
                    new ClockReading(store.Time.GetUtcNow().UtcTicks, host.Options.IsClockSynchronised())
                )
            );
            KeepTime(now);
        }
    }

    /// <summary>How the clocks stand. Under the lock.</summary>
    public ClockStatistics ReadStatistics()
    {
        var time = Now;
        return new ClockStatistics(
            time,
            ClockStatus.Doubt(host.Core, host.Now),
            AheadSeconds(store.Time.GetUtcNow().UtcTicks, time),
            host.Options.IsClockSynchronised()
        );
    }

    /// <summary>By how many seconds a clock is ahead of the cluster's; 0 when that is not known.</summary>
    public static double AheadSeconds(long ticks, ClusterTime time) =>
        time.UtcTicks == 0 ? 0 : Math.Round(TimeSpan.FromTicks(ticks - time.UtcTicks).TotalSeconds, 3);

    private void KeepTime(long now)
    {
        var (ticks, isSure) = host.Core.ReadClock(now);
        Volatile.Write(ref _readTime, ticks > 0 ? new ReadTime(now, ticks, isSure) : null);
    }

    /// <summary>
    /// The cluster's time when the clock was last read: each second by the tick, or by whoever asked a node alone.
    /// </summary>
    private sealed record ReadTime(long Microseconds, long UtcTicks, bool IsSure)
    {
        public ClusterTime At(long now) =>
            new(UtcTicks + ((now - Microseconds) * TimeSpan.TicksPerMicrosecond), IsSure);
    }
}
