using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>Information about a stopped member from its directory alone.</summary>
public sealed class StoppedMemberTests
{
    [Fact]
    public void A_stopped_member_is_read_with_its_whole_journal_and_does_not_serve_without_knowing_what_is_committed()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.Put(cluster.A, "users/1", 7);
        cluster.AwaitEqual();
        cluster.B.StopCleanly();

        using (var refused = Open(cluster.B, reads: false))
        {
            Assert.Contains("does not know which of these a majority has", refused.Diagnosis, StringComparison.Ordinal);
        }

        using (var read = Open(cluster.B, reads: true))
        {
            Assert.Null(read.Diagnosis);
            Assert.True(read.Databases.TryGet("db", out var database));
            using var reader = database.OpenReader();
            Assert.True(reader.TryGetDocument("users/1"u8, out var document));
            document.Dispose();
        }

        cluster.B.Open();
        cluster.AwaitEqual();
    }

    // Opens the directory as commands on the machine do: without other members, and to read it or to serve it.
    private static Node Open(SteppedMember member, bool reads) =>
        Node.Open(
            new NodeOptions
            {
                DataDirectory = SteppedMember.Directory,
                SegmentBytes = 64 << 10,
                HasPeers = true,
                CommandLeftOut = reads ? static _ => { } : null,
            },
            member.Disk,
            new MemoryBudget(16 << 20),
            SilentRecorder.Instance,
            member.Time,
            RaftConsensus.Alone
        );
}
