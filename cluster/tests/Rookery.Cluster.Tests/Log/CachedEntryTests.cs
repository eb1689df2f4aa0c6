using System.Buffers;
using Rookery.Cluster.Commit;
using Rookery.Cluster.Log;
using Rookery.Documents.Commands;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Log;

/// <summary>A log entry that is made of several proposals.</summary>
public sealed class CachedEntryTests
{
    [Fact]
    public void Proposals_of_a_refused_entry_are_proposed_again_before_later_ones()
    {
        var waiting = new Queue<Proposal>();
        for (int number = 0; number < 5; number++)
        {
            waiting.Enqueue(Proposal.Rent(CreateCommand((byte)number), operationCount: 1));
        }

        var entry = new CachedEntry();
        entry.Fill(waiting, new LogTime(Ticks: 1, IsSteady: true));
        Assert.Equal(3, entry.ProposalCount);
        entry.ReturnProposals(waiting);

        Assert.Equal(0, entry.ProposalCount);
        Assert.Equal([0, 1, 2, 3, 4], waiting.Select(static proposal => proposal.Command.Span[0]));
        Assert.All(waiting, static proposal => Assert.Equal(CommandBytes, proposal.Command.Length));
        foreach (var proposal in waiting)
        {
            proposal.ReleaseCommand();
        }
    }

    // Three such commands fit into an entry.
    private const int CommandBytes = CachedEntry.MaxBytes / 7 * 2;

    private static CommandBuffer CreateCommand(byte number)
    {
        byte[] bytes = new byte[CommandBytes];
        Array.Fill(bytes, number);
        var command = CommandBuffer.Rent(bytes.Length);
        command.Write(bytes);
        return command;
    }
}
