using Rookery.Cluster.Log;
using Rookery.Documents.Commands;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>An entry keeps its memory while it is applied and answered, whatever other threads do meanwhile.</summary>
public sealed class HostEntryMemoryTests
{
    /// <summary>The journal thread writes later entries, and drops the durable ones from the full cache.</summary>
    [Fact]
    public void An_entry_keeps_its_payload_while_it_is_applied()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        Assert.Null(cluster.Do(cluster.A, CommandEncoder.CreateDatabase("other", new string('1', 22))).Rejection);
        cluster.AwaitEqual();
        var follower = cluster.B.Consensus!;
        int payloadBytes = -1;
        cluster.B.Store!.Applier.DatabaseDeleted = () =>
        {
            var entry = EntryAt(follower, follower.AppliedIndex + 1)!;
            for (int i = 0; i < 60; i++)
            {
                cluster.Put(cluster.A, $"users/{i}");
            }

            cluster.RunUntil(() => EntryAt(follower, entry.Position.Index) is null, "B drops the entry");
            payloadBytes = entry.PayloadBytes;
        };
        Assert.Null(cluster.Do(cluster.A, CommandEncoder.DeleteDatabases(["other"])).Rejection);
        cluster.AwaitEqual();
        Assert.InRange(payloadBytes, 1, int.MaxValue);
    }

    /// <summary>
    /// The callers continue on the thread that answers them, and the timer finds the log idle meanwhile.
    /// </summary>
    [Fact]
    public void An_entry_is_not_reused_before_its_callers_are_answered()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.AwaitEqual();
        var leader = cluster.A.Consensus!;
        var answer = cluster
            .A.Propose(SteppedCluster.PutOf("users/1", 1))
            .ContinueWith(
                _ => cluster.RunUntil(() => EntryAt(leader, leader.AppliedIndex) is null, "A drops the entry"),
                CancellationToken.None,
                TaskContinuationOptions.ExecuteSynchronously,
                TaskScheduler.Default
            );
        cluster.RunUntil(() => answer.IsCompleted, "an answer");
        Assert.Null(answer.Exception);
        Assert.Equal(1, cluster.A.Peek("users/1").Value);
    }

    private static CachedEntry? EntryAt(RaftConsensus consensus, long index) =>
        consensus.Log.Cache.TryGet(index, out var entry) ? entry : null;
}
