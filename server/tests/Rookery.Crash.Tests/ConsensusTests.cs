using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Parsing;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>
/// Commands at a node without other members: when they are written, synced and answered, and how retries and the clock
/// affect them.
/// </summary>
public sealed class ConsensusTests : IDisposable
{
    private readonly SimulatedDisk _disk = new("/data");
    private readonly SimulatedTimeProvider _time = new();
    private SteppedNode _node;

    public ConsensusTests()
    {
        _node = SteppedNode.Open(_disk, _time);
        var created = _node.Propose(CommandEncoder.CreateDatabase("db", historyId: "0123456789012345678901"));
        _node.Commit();
        Assert.Null(created.Result.Rejection);
    }

    public void Dispose() => _node.Dispose();

    [Fact]
    public async Task Commands_queued_together_share_one_write_and_one_sync_and_are_answered_after_it()
    {
        Task<CommandOutcome>[] outcomes = [.. Enumerable.Range(0, 20).Select(i => _node.Propose(Put($"users/{i}")))];
        long syncs = _disk.CallCount(DiskCalls.Sync);
        long writes = _disk.CallCount(DiskCalls.Write);
        Assert.DoesNotContain(outcomes, outcome => outcome.IsCompleted);
        _node.Commit();
        Assert.Equal((syncs + 1, writes + 1), (_disk.CallCount(DiskCalls.Sync), _disk.CallCount(DiskCalls.Write)));
        // The first document's etag is 2, because the creation of the database took 1.
        Assert.Equal(
            Enumerable.Range(2, 20).Select(etag => (long)etag),
            (await Task.WhenAll(outcomes)).Select(outcome => outcome[0].Etag)
        );
    }

    [Fact]
    public async Task A_stopping_node_commits_queued_commands_and_refuses_new_ones()
    {
        var queued = _node.Propose(Put("users/1"));
        _node.Consensus.Host.BeginShutdown();
        var late = await _node.Propose(Put("users/2"));
        _node.Commit();
        Assert.Equal(RejectionKind.Stopping, late.Rejection?.Kind);
        Assert.Null((await queued).Rejection);
    }

    [Fact]
    public async Task Queued_commands_that_will_not_be_committed_are_answered()
    {
        var queued = _node.Propose(Put("users/1"));
        long writes = _disk.CallCount(DiskCalls.Write);
        _node.Consensus.Host.BeginShutdown();
        _node.Consensus.Threads.RefuseWaiting();
        Assert.Equal(RejectionKind.Stopping, (await queued).Rejection?.Kind);
        Assert.Equal(writes, _disk.CallCount(DiskCalls.Write));
    }

    [Fact]
    public void A_retry_with_the_same_idempotency_key_is_applied_once_also_after_a_restart()
    {
        var first = Run(Put("users/|", key: 7));
        Assert.Equal(first[0].Etag, Run(Put("users/|", key: 7))[0].Etag);
        _node.Dispose();
        _disk.KillProcess();
        _node = SteppedNode.Open(_disk, _time);
        Assert.Equal(first[0].Etag, Run(Put("users/|", key: 7))[0].Etag);
        Assert.NotEqual(first[0].Etag, Run(Put("users/|", key: 8))[0].Etag);
        Assert.Equal(2, CountDocuments());
    }

    [Fact]
    public void An_idempotency_key_is_forgotten_after_a_day_and_can_be_used_again()
    {
        Run(Put("users/|", key: 7));
        _time.Advance(TimeSpan.FromHours(23));
        Run(Put("users/|", key: 7));
        Assert.Equal(1, CountDocuments());
        _time.Advance(TimeSpan.FromHours(2));
        var again = Run(Put("users/|", key: 7));
        Assert.Equal(2, CountDocuments());
        _time.Advance(TimeSpan.FromHours(23));
        Assert.Equal(again[0].Etag, Run(Put("users/|", key: 7))[0].Etag);
    }

    /// <summary>
    /// A clock that was set back, as at boot without a network, does not change the order of writes.
    /// </summary>
    [Fact]
    public void Log_time_never_falls_back_whatever_the_clock_does()
    {
        long before = Run(Put("users/1")).LogTimeTicks;
        _time.SetUtcNow(DateTimeOffset.UnixEpoch);
        long after = Run(Put("users/2")).LogTimeTicks;
        _node.Dispose();
        _node = SteppedNode.Open(_disk, _time);
        long afterRestart = Run(Put("users/3")).LogTimeTicks;
        Assert.True(
            before < after && after < afterRestart,
            $"log times do not increase: {before}, {after}, {afterRestart} after a restart"
        );
    }

    // Makes the command with an idempotency key; 0 for none.
    private static CommandBuffer Put(string id, ulong key = 0)
    {
        using var writer = new BatchWriter(CommandKind.Batch, 1, key == 0 ? default : new IdempotencyKey(key, 1));
        writer.Put(System.Text.Encoding.UTF8.GetBytes(id), default, new ParsedDocument { BodyHead = "\"n\":1"u8 });
        return writer.Complete();
    }

    private CommandOutcome Run(CommandBuffer command)
    {
        var outcome = _node.Propose(command);
        _node.Commit();
        Assert.True(outcome.IsCompletedSuccessfully);
        Assert.Null(outcome.Result.Rejection);
        return outcome.Result;
    }

    private long CountDocuments()
    {
        Assert.True(_node.Core.Databases.TryGet("db", out var database));
        using var reader = database.OpenReader();
        return reader.ReadStatistics().Documents;
    }
}
