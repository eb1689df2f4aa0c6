using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>Names are lower-cased when the command is encoded. Apply uses the form in the command.</summary>
public sealed class LowerCaseTests
{
    private readonly SimulatedDisk _disk = new();

    [Fact]
    public void Databases_are_found_regardless_of_case_even_beyond_ASCII_and_after_a_restart()
    {
        using (var node = SteppedNode.Open(_disk, "/data"))
        {
            node.CreateDatabase("KÄSE-Laden");
            Assert.Equal(
                RejectionKind.DatabaseExists,
                node.Propose(CommandEncoder.CreateDatabase("käse-laden", HistoryId.Create())).Rejection?.Kind
            );
            node.Flush();
        }

        using var again = SteppedNode.Open(_disk, "/data");
        Assert.Equal("KÄSE-Laden", again.Database("käse-laDEN").Name);

        // A name longer than any that is allowed is looked up without a fault.
        Assert.False(again.Core.Databases.TryGet(new string('k', 200), out _));
        Assert.Equal(
            RejectionKind.DatabaseExists,
            again.Propose(CommandEncoder.CreateDatabase("kÄSE-LADEN", HistoryId.Create())).Rejection?.Kind
        );
        again.Run(CommandEncoder.DeleteDatabases(["Käse-Laden"]));
        Assert.Empty(again.Core.Databases.All);
    }

    [Theory]
    [InlineData("Users", "uSERS")]
    [InlineData("Äpfel", "äPFEL")]
    public void Hilo_tags_are_case_insensitive(string first, string second)
    {
        using var node = SteppedNode.Open(_disk, "/data");
        node.CreateDatabase("db");
        uint database = node.Database("db").Number;
        Assert.Equal(
            1,
            node.Propose(
                CommandEncoder.HiloNext(
                    database,
                    Encoding.UTF8.GetBytes(first),
                    lastBatchSize: 0,
                    lastRangeAtTicks: 0,
                    lastMax: 0,
                    (byte)'/',
                    key: default
                )
            )[0].Low
        );
        // The first range has 32 ids, and the second name continues it.
        Assert.Equal(
            33,
            node.Propose(
                CommandEncoder.HiloNext(
                    database,
                    Encoding.UTF8.GetBytes(second),
                    lastBatchSize: 0,
                    lastRangeAtTicks: 0,
                    lastMax: 0,
                    (byte)'/',
                    key: default
                )
            )[0].Low
        );
        Assert.Single(node.Documents("db"));
    }

    [Fact]
    public void Apply_uses_the_lower_case_form_in_the_command()
    {
        using var node = SteppedNode.Open(_disk, "/data");
        using var command = CommandEncoder.CreateDatabase("É", historyId: "0123456789012345678901");
        byte[] other = command.Written.ToArray();
        other[^1] ^= 1; // as a runtime with another version of Unicode would lower-case it
        var copy = CommandBuffer.Rent();
        other.CopyTo(copy.GetSpan(other.Length));
        copy.Advance(other.Length);
        node.Run(copy);
        Assert.Null(node.Propose(CommandEncoder.CreateDatabase("é", historyId: "0123456789012345678901")).Rejection);
    }
}
