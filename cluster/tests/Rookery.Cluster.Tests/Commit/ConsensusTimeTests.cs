using Rookery.Cluster.Tests.Simulation;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Commit;

public sealed class ConsensusTimeTests
{
    /// <summary>
    /// Each request with a token that ends asks for the time, and each connection who belongs to the cluster: they may
    /// not stand in line behind a state that is put in place.
    /// </summary>
    [Fact]
    public void The_time_and_the_members_are_readable_while_consensus_is_busy()
    {
        var time = new SimulatedTimeProvider(new DateTimeOffset(2026, 11, 22, 8, 0, 0, TimeSpan.Zero));
        var clock = new SkewedTime(time);
        using var isBusy = new ManualResetEventSlim();
        using var mayGoOn = new ManualResetEventSlim(initialState: true);
        using var store = NodeStore.Open(
            new NodeOptions { DataDirectory = "/data/node", Reserve = new ReserveRule(0, 0) },
            new SimulatedDisk("/data"),
            new MemoryBudget(16 << 20),
            SilentRecorder.Instance,
            clock
        );
        using var consensus = RaftConsensus.Open(
            store,
            new ConsensusOptions
            {
                // Called with the lock held.
                IsClockSynchronised = () =>
                {
                    isBusy.Set();
                    mayGoOn.Wait();
                    return true;
                },
            }
        );
        var first = consensus.Time.Known!.Value;

        // Nobody asks for a while, and the clock is set meanwhile: what is told while the lock is held is what the tick
        // has read since.
        clock.Ahead = TimeSpan.FromHours(1);
        time.Advance(TimeSpan.FromSeconds(5));
        consensus.Ticker.Tick();
        first += TimeSpan.FromSeconds(5) + clock.Ahead;

        mayGoOn.Reset();
        isBusy.Reset();
        time.Advance(TimeSpan.FromSeconds(5));
        var busy = new Thread(() => _ = consensus.Time);
        busy.Start();
        isBusy.Wait();
        Assert.Equal(first + TimeSpan.FromSeconds(5), consensus.Time.Known);

        // Connections are looked after each second by a timer, which would take one thread more each time.
        Assert.True(consensus.Configuration.IsVoter(consensus.Self));
        time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal(first + TimeSpan.FromSeconds(10), consensus.Time.Known);
        mayGoOn.Set();
        busy.Join();
    }
}
