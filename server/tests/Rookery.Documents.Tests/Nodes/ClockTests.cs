using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Raft;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>
/// A node whose clock starts in 1970 or 2080, as on a board without a battery-backed clock. It expires nothing and
/// removes nothing too early, and recovers when the clock is right.
/// </summary>
public sealed class ClockTests
{
    private static readonly DateTimeOffset Start = new(2026, 3, 1, 0, 0, 0, TimeSpan.Zero);
    private readonly SimulatedDisk _disk = new("/data");
    private readonly SimulatedTimeProvider _time = new(Start);
    private bool _isSynchronised = true;

    [Theory]
    [InlineData(1970)]
    [InlineData(2080)]
    public async Task Documents_expire_only_with_a_trusted_clock(int year)
    {
        using (var node = Open())
        {
            node.CreateDatabase("db");
            node.Run(Put(node, "soon", """{"@metadata":{"@expires":"2026-03-01T01:00:00Z"}}"""));
            node.Run(Put(node, "later", """{"@metadata":{"@expires":"2026-04-01T00:00:00Z"}}"""));
        }

        LoseTime(year);
        using var again = Open();
        _time.Advance(TimeSpan.FromHours(2));
        await ExpireAsync(again);
        Assert.Equal(["later", "soon"], again.Documents("db").Keys.Order(StringComparer.Ordinal));
        var time = again.Consensus.Time;
        Assert.False(time.IsSure);
        Assert.InRange(
            new DateTime(again.Propose(Put(again, "now", "{}")).LogTimeTicks),
            Start.UtcDateTime,
            Start.UtcDateTime.AddHours(3)
        );

        SetTrustedTime(Start.AddHours(3));
        await ExpireAsync(again);
        Assert.Equal(["later", "now"], again.Documents("db").Keys.Order(StringComparer.Ordinal));
        Assert.InRange(
            new DateTime(again.Propose(Put(again, "now", "{}")).LogTimeTicks),
            Start.UtcDateTime.AddHours(3),
            Start.UtcDateTime.AddHours(3).AddMinutes(1)
        );
    }

    [Fact]
    public void A_node_first_started_in_2080_works_after_its_clock_is_corrected()
    {
        LoseTime(2080);
        using var node = Open();
        node.CreateDatabase("db");
        // A clock more than ten years after the earliest plausible time is not believed, so the time of the log begins
        // at the earliest plausible time.
        Assert.InRange(
            new DateTime(node.Propose(Put(node, "a", "{}")).LogTimeTicks),
            new DateTime(2026, 1, 1),
            new DateTime(2026, 1, 2)
        );
        SetTrustedTime(Start);
        Assert.InRange(
            new DateTime(node.Propose(Put(node, "a", "{}")).LogTimeTicks),
            Start.UtcDateTime,
            Start.UtcDateTime.AddMinutes(1)
        );
    }

    [Theory]
    [InlineData(1970)]
    [InlineData(2080)]
    public void An_idempotency_key_used_before_the_time_was_known_is_kept_afterwards(int year)
    {
        using (var node = Open())
        {
            node.CreateDatabase("db");
        }

        LoseTime(year);
        string? first;
        using (var node = Open())
        {
            first = node.Propose(Put(node, "", "{}", key: 1))[0].Id;
            SetTrustedTime(Start.AddDays(40));
            Assert.Equal(first, node.Propose(Put(node, "", "{}", key: 1))[0].Id);
            node.Run(Put(node, "", "{}", key: 2));
            Assert.Equal(first, node.Propose(Put(node, "", "{}", key: 1))[0].Id);
        }

        using var again = Open();
        Assert.Equal(first, again.Propose(Put(again, "", "{}", key: 1))[0].Id);
        // Idempotency keys are kept for a day.
        _time.Advance(TimeSpan.FromHours(25));
        Assert.NotEqual(first, again.Propose(Put(again, "", "{}", key: 1))[0].Id);
    }

    [Fact]
    public void Idempotency_keys_do_not_expire_while_the_time_is_not_trusted()
    {
        using (var node = Open())
        {
            node.CreateDatabase("db");
        }

        LoseTime(1970);
        using var again = Open();
        string? first = again.Propose(Put(again, "", "{}", key: 1))[0].Id;
        _time.Advance(TimeSpan.FromHours(25));
        Assert.Equal(first, again.Propose(Put(again, "", "{}", key: 1))[0].Id);
    }

    [Fact]
    public async Task A_tombstone_from_before_the_time_was_known_is_kept_for_a_day()
    {
        using (var node = Open())
        {
            node.CreateDatabase("db");
        }

        LoseTime(1970);
        using var again = Open();
        again.Run(Put(again, "a", "{}"));
        again.Run(CommandEncoder.Delete(again.Database("db").Number, "a"u8, expected: default, key: default));
        _time.Advance(TimeSpan.FromDays(2));
        await CleanAsync(again);
        SetTrustedTime(Start.AddDays(40));
        again.Run(Put(again, "b", "{}"));
        await CleanAsync(again);
        Assert.Equal(1, CountTombstones(again));
        // 26 hours: longer than the day for which tombstones are kept after the time became known, plus the hour by
        // which their removal may be delayed.
        _time.Advance(TimeSpan.FromHours(26));
        await CleanAsync(again);
        Assert.Equal(0, CountTombstones(again));
    }

    [Fact]
    public async Task An_administrator_can_confirm_the_time()
    {
        using (var node = Open())
        {
            node.CreateDatabase("db");
            node.Run(Put(node, "soon", """{"@metadata":{"@expires":"2026-03-01T01:00:00Z"}}"""));
        }

        LoseTime(2026);
        _time.SetUtcNow(Start.AddDays(3));
        using var again = Open();
        await ExpireAsync(again);
        Assert.Single(again.Documents("db"));
        var statistics = again.Consensus.ReadCluster();
        Assert.Contains("rookery cluster clock confirm", statistics.Clock.Doubt, StringComparison.Ordinal);
        Assert.Equal(
            (3 * 86_400, false),
            (Math.Round(statistics.Clock.OwnAheadSeconds), statistics.Clock.IsOwnSynchronised)
        );

        var (answer, sentence) = again.Consensus.ConfirmClock();
        Assert.Equal((ClockAnswer.Confirmed, "The cluster's time is 2026-03-04 00:00:00 UTC."), (answer, sentence));
        await ExpireAsync(again);
        Assert.Empty(again.Documents("db"));
        Assert.Null(again.Consensus.ReadCluster().Clock.Doubt);
    }

    [Fact]
    public void An_unsynchronised_node_that_was_off_for_minutes_needs_no_confirmation()
    {
        _isSynchronised = false;
        using (var node = Open())
        {
            node.CreateDatabase("db");
        }

        _time.Advance(TimeSpan.FromMinutes(9));
        using var again = Open();
        Assert.Equal(new ClusterTime(_time.GetUtcNow().UtcTicks, IsSure: true), again.Consensus.Time);
    }

    private static CommandBuffer Put(SteppedNode node, string id, string json, ulong key = 0)
    {
        using var parser = DocumentParser.Rent();
        Assert.True(parser.TryParse(Encoding.UTF8.GetBytes(json), out var document, out _));
        return CommandEncoder.Put(
            node.Database("db").Number,
            Encoding.UTF8.GetBytes(id),
            ExpectedChangeVector.None,
            document,
            key == 0 ? default : new IdempotencyKey(key, key)
        );
    }

    private static long CountTombstones(SteppedNode node)
    {
        using var reader = node.Database("db").OpenReader();
        return reader.ReadStatistics().Tombstones;
    }

    // Tasks complete inline within Commit. The test's synchronization context would continue on another thread, so the
    // work runs without it.
    private static Task ExpireAsync(SteppedNode node) =>
        Task.Run(() =>
            RunOnce(node, new Expiration(node.Core.Databases, node.Consensus).RunOnceAsync(CancellationToken.None))
        );

    private static Task CleanAsync(SteppedNode node) =>
        Task.Run(() =>
            RunOnce(node, new TombstoneCleaning(node.Core, node.Consensus).RunOnceAsync(CancellationToken.None))
        );

    private static void RunOnce(SteppedNode node, Task done)
    {
        node.Commit();
        Assert.True(done.IsCompletedSuccessfully);
    }

    private SteppedNode Open() =>
        SteppedNode.Open(_disk, SteppedNode.Options("/data/node"), _time, isClockSynchronised: () => _isSynchronised);

    /// <summary>Sets a wrong, untrusted clock, as after a power cut.</summary>
    private void LoseTime(int year)
    {
        _isSynchronised = false;
        _time.SetUtcNow(new DateTimeOffset(year, 1, 1, 0, 0, 0, TimeSpan.Zero));
    }

    /// <summary>Sets the clock from a time source, and waits a second until the node has noticed it.</summary>
    private void SetTrustedTime(DateTimeOffset now)
    {
        _time.SetUtcNow(now);
        _isSynchronised = true;
        _time.Advance(TimeSpan.FromSeconds(1));
    }
}
