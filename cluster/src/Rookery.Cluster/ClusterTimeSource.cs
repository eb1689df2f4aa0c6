using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Reads the node's clock for the core, provides the cluster's time, and stamps entries with log times.
/// </summary>
/// <remarks>
/// All fields are guarded by the lock of <see cref="RaftHost"/>; <c>_clockReadAt</c> is also read without it.
/// </remarks>
internal sealed class ClusterTimeSource(RaftHost host, NodeStore store)
{
    // A clock may be set at any time, so it is read once a second. Between readings the time advances monotonically.
    private const long ClockIntervalMicroseconds = 1_000_000;

    // Initially long ago. Half the minimum, so that a time minus this value does not overflow.
    private long _clockReadAt = long.MinValue / 2;
    private long _lastLogTicks;
    private long _lastLogTicksTerm;

    /// <summary>The cluster's time as this node estimates it; equals <see cref="RaftCore.ReadClock"/>.</summary>
    /// <remarks>
    /// Each reader of documents that may expire asks for it, so it takes the lock only once a second, to read the
    /// machine's clock. While a snapshot is installed, the lock is held for seconds on a slow SD card: then the time
    /// continues from the last reading.
    /// </remarks>
    public ClusterTime Now
    {
        get
        {
            long now = host.Now;
            if (IsClockDue(now))
            {
                ReadUnlessBusy();
            }

            return host.Clock.At(now);
        }
    }

    /// <summary>
    /// Whether <c>_lastLogTicks</c> was set in the current term. If not, another leader's entry may carry a later time.
    /// Under the lock.
    /// </summary>
    public bool HasLogTimeOfCurrentTerm => _lastLogTicksTerm == host.Core.Term;

    /// <summary>
    /// Sets the cluster's time to the median of the voters' clocks, on an operator's order. Works only on the leader.
    /// </summary>
    /// <returns>The result, and a sentence that describes it.</returns>
    public (ClockAnswer Answer, string Sentence) Confirm()
    {
        lock (host.Gate)
        {
            ReadIfDue();
            host.Step(Input.ConfirmClock(host.Now));
            var answer = host.IsHalted ? ClockAnswer.NotLeader : host.Output.ClockAnswer;
            host.EndStep();
            return (answer, ClockStatus.DescribeAnswer(answer, host.Core.ReadClock(host.Now).UtcTicks));
        }
    }

    /// <summary>
    /// Returns the log time of the next entry. Called under the lock, by the thread that holds the write turn.
    /// </summary>
    public LogTime NextLogTime()
    {
        ReadIfDue();
        return host.Core.TimeAfter(host.Now, _lastLogTicks);
    }

    /// <summary>
    /// Records that an entry with this log time is in the log. The time of an entry that the core refuses is not
    /// recorded: the next time must be compared with that of the log's last entry. Otherwise the mark that the time
    /// jumped between the two would be lost. Under the lock.
    /// </summary>
    public void RecordProposed(LogTime time) => _lastLogTicks = time.Ticks;

    /// <summary>
    /// Reports the last applied log time to the core, once the first entry of this leader's term is applied. Times of
    /// this node's proposals in earlier terms do not count, because other leaders may have replaced those entries.
    /// </summary>
    public void ReportLogTime()
    {
        lock (host.Gate)
        {
            ReadIfDue();
            _lastLogTicks = store.Applier.LastLogTicks;
            _lastLogTicksTerm = host.Core.Term;
            host.Step(Input.LogTime(host.Now, _lastLogTicks));
        }
    }

    /// <summary>
    /// Reads the machine's clock if the last reading is over a second old. On a node without peers no timer calls this,
    /// so every reader of the time calls it. Call it under the lock, but not during a step of the core.
    /// </summary>
    public void ReadIfDue()
    {
        long now = host.Now;
        if (IsClockDue(now))
        {
            Volatile.Write(ref _clockReadAt, now);
            host.Step(
                Input.ReadClock(
                    now,
                    new ClockReading(store.Time.GetUtcNow().UtcTicks, host.Options.IsClockSynchronised())
                )
            );
        }
    }

    /// <summary>Returns the state of the clocks. Under the lock.</summary>
    public ClockStatistics ReadStatistics()
    {
        var time = Now;
        return new ClockStatistics(
            time,
            ClockStatus.ExplainDoubt(host.Core, host.Now),
            AheadSeconds(store.Time.GetUtcNow().UtcTicks, time),
            host.Options.IsClockSynchronised()
        );
    }

    /// <summary>
    /// Returns how many seconds a clock is ahead of the cluster's time (negative: slow); 0 when the cluster's time is
    /// unknown.
    /// </summary>
    /// <param name="ticks">What the clock shows, in ticks of UTC.</param>
    /// <param name="time">The cluster's time.</param>
    public static double AheadSeconds(long ticks, ClusterTime time) =>
        time.UtcTicks == 0 ? 0 : Math.Round(TimeSpan.FromTicks(ticks - time.UtcTicks).TotalSeconds, 3);

    private bool IsClockDue(long now) => now - Volatile.Read(ref _clockReadAt) >= ClockIntervalMicroseconds;

    // Waits for the lock only while no time is known.
    private void ReadUnlessBusy()
    {
        if (!host.Gate.TryEnter())
        {
            if (host.Clock.IsKnown)
            {
                return;
            }

            host.Gate.Enter();
        }

        try
        {
            ReadIfDue();
        }
        finally
        {
            host.Gate.Exit();
        }
    }
}
