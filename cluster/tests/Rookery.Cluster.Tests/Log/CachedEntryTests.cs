using System.Buffers;
using Rookery.Cluster.Commit;
using Rookery.Cluster.Log;
using Rookery.Documents.Commands;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Log;

public sealed class CachedEntryTests
{
    [Fact]
    public void Proposals_whose_entry_got_no_place_are_proposed_before_those_that_came_later()
    {
        var waiting = new Queue<Proposal>();
        for (int number = 0; number < 5; number++)
        {
            waiting.Enqueue(Proposal.Rent(Command((byte)number), operationCount: 1));
        }

        var entry = new CachedEntry();
        entry.Fill(waiting, new LogTime(Ticks: 1, IsSteady: true));
        Assert.Equal(3, entry.ProposalCount);
        entry.ReturnProposals(waiting);

        Assert.Equal(0, entry.ProposalCount);
        Assert.Equal([0, 1, 2, 3, 4], waiting.Select(static proposal => proposal.Command.Span[0]));
        Assert.All(waiting, static proposal => Assert.Equal(LargeBytes, proposal.Command.Length));
        foreach (var proposal in waiting)
        {
            proposal.ReleaseCommand();
        }
    }

    // Three fit into an entry.
    private const int LargeBytes = CachedEntry.MaxBytes / 7 * 2;

    private static CommandBuffer Command(byte number)
    {
        byte[] bytes = new byte[LargeBytes];
        Array.Fill(bytes, number);
        var command = CommandBuffer.Rent(bytes.Length);
        command.Write(bytes);
        return command;
    }
}
