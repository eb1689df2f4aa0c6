using System.Collections.Immutable;

namespace Rookery.Raft.Tests;

/// <summary>The number of reads that may wait for a leader.</summary>
public sealed class ReadBoundTests
{
    [Fact]
    public void Reads_beyond_the_maximum_number_are_refused_while_there_is_no_leader()
    {
        var (self, other) = (new NodeId(1), new NodeId(2));
        var core = new RaftCore(
            new StartingPoint
            {
                Self = self,
                StartNumber = 1,
                Vote = default,
                Log = new EntryLog(
                    position: default,
                    Configuration.Of([self, other, new NodeId(3)], learners: []),
                    configurationIndex: 0
                ),
                CommitIndex = 0,
                Seed = 1,
            },
            new CoreOptions()
        );
        var output = new Output();
        // The last three are refused.
        for (int number = 1; number <= RaftCore.MaxWaitingReads + 3; number++)
        {
            core.Step(Input.Read(0, number), output);
            Assert.Equal(
                number > RaftCore.MaxWaitingReads ? [(long)number] : ImmutableArray<long>.Empty,
                output.RefusedReads
            );
            Assert.Empty(output.Reads);
        }
    }
}
