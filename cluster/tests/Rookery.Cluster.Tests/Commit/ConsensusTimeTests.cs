using Rookery.Cluster.Tests.Simulation;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Commit;

/// <summary>Reads of the cluster's time by other threads.</summary>
public sealed class ConsensusTimeTests
{
    /// <summary>
    /// Each request with an expiring token reads the time, and each connection reads the members. Neither may wait for
    /// the lock while a snapshot is installed.
    /// </summary>
    [Fact]
    public void The_time_and_the_members_are_readable_while_consensus_is_busy()
    {
        var time = new SimulatedTimeProvider(new DateTimeOffset(2026, 11, 22, 8, 0, 0, TimeSpan.Zero));
        var clock = new SkewedTime(time);
        using var holdsLock = new ManualResetEventSlim();
        using var mayReleaseLock = new ManualResetEventSlim(initialState: true);
        using var store = NodeStore.Open(
            new NodeOptions { DataDirectory = "/data/node", Reserve = new ReserveRule(Bytes: 0, Fraction: 0) },
            new SimulatedDisk("/data"),
            new MemoryBudget(16 << 20),
            SilentRecorder.Instance,
            clock
        );
        using var consensus = RaftConsensus.Open(
            store,
            new ConsensusOptions
            {
                // Called while the lock is held.
                IsClockSynchronised = () =>
                {
                    holdsLock.Set();
                    mayReleaseLock.Wait();
                    return true;
                },
            }
        );
        var expected = consensus.Time.Known!.Value;

        // The clock is set forward, and the next tick reads it. While the lock is held, the time continues from
        // that reading.
        clock.Ahead = TimeSpan.FromHours(1);
        time.Advance(TimeSpan.FromSeconds(5));
        consensus.Ticker.Tick();
        expected += TimeSpan.FromSeconds(5) + clock.Ahead;

        mayReleaseLock.Reset();
        holdsLock.Reset();
        time.Advance(TimeSpan.FromSeconds(5));
        var reader = new Thread(() => _ = consensus.Time);
        reader.Start();
        holdsLock.Wait();
        Assert.Equal(expected + TimeSpan.FromSeconds(5), consensus.Time.Known);

        // A timer checks connections each second, so each blocked check would take another pool thread.
        Assert.True(consensus.Configuration.IsVoter(consensus.Self));
        time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal(expected + TimeSpan.FromSeconds(10), consensus.Time.Known);
        mayReleaseLock.Set();
        reader.Join();
    }

    /// <summary>
    /// Otherwise an entry that a leadership transfer keeps out of the log would take the mark of a jump with it.
    /// </summary>
    [Fact]
    public void The_time_of_an_entry_that_is_not_in_the_log_does_not_make_the_next_time_steady()
    {
        using var store = NodeStore.Open(
            new NodeOptions { DataDirectory = "/data/node", Reserve = new ReserveRule(Bytes: 0, Fraction: 0) },
            new SimulatedDisk("/data"),
            new MemoryBudget(16 << 20),
            SilentRecorder.Instance,
            new SimulatedTimeProvider(new DateTimeOffset(2026, 11, 22, 8, 0, 0, TimeSpan.Zero))
        );
        using var consensus = RaftConsensus.Open(store, new ConsensusOptions());
        var source = new ClusterTimeSource(consensus.Host, store);
        lock (consensus.Host.Gate)
        {
            source.ReportLogTime();
            Assert.False(source.NextLogTime().IsSteady);
            var time = source.NextLogTime();
            Assert.False(time.IsSteady);
            source.RecordProposed(time);
            Assert.True(source.NextLogTime().IsSteady);
        }
    }

    /// <summary>Readers of documents that may expire ask for the time without the lock.</summary>
    [Fact]
    public void A_time_that_an_operator_confirms_is_read_at_once()
    {
        var time = new SimulatedTimeProvider(new DateTimeOffset(2026, 11, 22, 8, 0, 0, TimeSpan.Zero));
        var clock = new SkewedTime(time);
        using var store = NodeStore.Open(
            new NodeOptions { DataDirectory = "/data/node", Reserve = new ReserveRule(Bytes: 0, Fraction: 0) },
            new SimulatedDisk("/data"),
            new MemoryBudget(16 << 20),
            SilentRecorder.Instance,
            clock
        );
        using var consensus = RaftConsensus.Open(
            store,
            new ConsensusOptions { IsClockSynchronised = static () => false }
        );
        var start = consensus.Time.Known!.Value;
        Assert.True(consensus.Time.IsSure);

        // A clock that jumps without a time source is doubted.
        clock.Ahead = TimeSpan.FromHours(1);
        time.Advance(TimeSpan.FromSeconds(2));
        Assert.Equal((start + TimeSpan.FromSeconds(2), false), (consensus.Time.Known!.Value, consensus.Time.IsSure));

        consensus.ConfirmClock();
        var confirmed = start + TimeSpan.FromSeconds(2) + clock.Ahead;
        Assert.Equal((confirmed, true), (consensus.Time.Known!.Value, consensus.Time.IsSure));
    }
}
