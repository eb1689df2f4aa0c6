using Rookery.Documents.Consensus;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>The node's clock for the core, and the cluster's time from it.</summary>
public sealed partial class RaftConsensus
{
    // A clock may be set at any time. Between two readings the monotonic time goes on from the last.
    private const long ClockIntervalMicroseconds = 1_000_000;

    private long _clockReadAt = long.MinValue / 2;
    private ReadTime? _readTime;
    private long _lastLogTicks;
    private long _lastLogTicksTerm;

    /// <inheritdoc/>
    /// <remarks>
    /// Each request with a token that ends asks for it. While a state is put in place the lock is held for seconds on a
    /// slow card; the last reading goes on meanwhile.
    /// </remarks>
    public ClusterTime Time
    {
        get
        {
            if (!_host.Gate.TryEnter())
            {
                if (Volatile.Read(ref _readTime) is { } known)
                {
                    return known.At(_host.Now);
                }

                _host.Gate.Enter();
            }

            try
            {
                ReadClockIfDue();
                if (_readTime is null)
                {
                    KeepTime(_host.Now);
                }

                var (ticks, isSure) = _host.Core.ReadClock(_host.Now);
                return new ClusterTime(ticks, isSure);
            }
            finally
            {
                _host.Gate.Exit();
            }
        }
    }

    /// <summary>
    /// Whether the last log time is of the term that this node leads in: else an entry of another leader may be later.
    /// Under the lock.
    /// </summary>
    private bool HoldsLogTime => _lastLogTicksTerm == _host.Core.Term;

    /// <summary>An operator says that the clocks of the voters are right. On the leader.</summary>
    /// <returns>What came of it, and a sentence that says so.</returns>
    public (ClockAnswer Answer, string Sentence) ConfirmClock()
    {
        lock (_host.Gate)
        {
            ReadClockIfDue();
            _host.Step(Input.ConfirmClock(_host.Now));
            var answer = _host.IsHalted ? ClockAnswer.NotLeader : _host.Output.ClockAnswer;
            _host.EndStep();
            return (answer, ClockStatus.Say(answer, _host.Core.ReadClock(_host.Now).UtcTicks));
        }
    }

    /// <summary>The time of the frame that is proposed next. Under the lock, by who has the turn.</summary>
    private LogTime NextLogTime()
    {
        ReadClockIfDue();
        var time = _host.Core.TimeAfter(_host.Now, _lastLogTicks);
        _lastLogTicks = time.Ticks;
        return time;
    }

    /// <summary>
    /// What was applied before this node may propose is the last of the log: of what it proposed in an earlier term,
    /// others may have replaced some.
    /// </summary>
    private void TellLogTime()
    {
        lock (_host.Gate)
        {
            ReadClockIfDue();
            (_lastLogTicks, _lastLogTicksTerm) = (_store.LastLogTicks, _host.Core.Term);
            _host.Step(Input.LogTime(_host.Now, _lastLogTicks));
        }
    }

    /// <summary>
    /// A node alone has no ticks, so whoever wants to know the time looks. Under the lock, not within a step.
    /// </summary>
    private void ReadClockIfDue()
    {
        long now = _host.Now;
        if (now - _clockReadAt >= ClockIntervalMicroseconds)
        {
            _clockReadAt = now;
            _host.Step(
                Input.ReadClock(now, new ClockReading(_time.GetUtcNow().UtcTicks, _options.IsClockSynchronised()))
            );
            KeepTime(now);
        }
    }

    private void KeepTime(long now)
    {
        var (ticks, isSure) = _host.Core.ReadClock(now);
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
