using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Parsing;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Consensus;

/// <summary>Puts of documents as they are stored, which are removed before a command is proposed.</summary>
public sealed class UnchangedPutsTests
{
    private const string Database = "db";

    private static readonly IdempotencyKey Key = new(1, 2);

    [Fact]
    public void Documents_end_as_if_all_puts_were_proposed()
    {
        var random = new Random(7);
        using var all = Open();
        using var changed = Open();
        int removed = 0;
        for (int chunk = 0; chunk < 200; chunk++)
        {
            (string Id, string Json)[] puts =
            [
                .. Enumerable
                    .Range(0, random.Next(1, 9))
                    .Select(_ => (Id: $"{"dD"[random.Next(2)]}/{random.Next(6)}", Json: $"{{\"n\":{random.Next(2)}}}")),
            ];
            all.Run(Encode(all, puts));
            var rest = UnchangedPuts.Remove(Encode(changed, puts), changed.Database(Database));
            int left = 0;
            if (rest is not null)
            {
                left = new CommandReader(rest.Written.Span).OperationCount;
                changed.Run(rest);
            }

            removed += puts.Length - left;
            Assert.Equal(all.Documents(Database), changed.Documents(Database));
        }

        Assert.InRange(removed, 100, 900);
        var stored = changed.Documents(Database).Select(static document => (document.Key, $"{{{document.Value}}}"));
        Assert.Null(UnchangedPuts.Remove(Encode(changed, [.. stored]), changed.Database(Database)));
    }

    [Fact]
    public void Only_puts_of_whole_ids_are_removed()
    {
        using var node = Open();
        (string Id, string Json)[] puts = [("a", "{}"), ("", "{}"), ("users|", "{}"), ("users/", "{}"), ("A", "{}")];
        node.Run(Encode(node, puts));
        using var whole = Encode(node, puts, Key);
        using var rest = UnchangedPuts.Remove(Encode(node, puts, Key), node.Database(Database))!;
        var command = new CommandReader(rest.Written.Span);
        Assert.Equal((3, Key), (command.OperationCount, command.Key));
        var ids = new List<string>();
        while (command.TryReadOperation(out var operation))
        {
            ids.Add(Encoding.UTF8.GetString(operation.Id.Written));
        }

        Assert.Equal(["users|", "users/"], ids[1..]);
        Assert.NotEqual(ReadRequest(whole), ReadRequest(rest));
    }

    [Theory]
    [InlineData("""{"@metadata":{"@expires":"2099-01-01T00:00:00Z"}}""", true)]
    [InlineData("""{"@metadata":{"@expires":"2099-01-02T00:00:00Z"}}""", false)]
    [InlineData("""{"@metadata":{"@collection":"Users","@expires":"2099-01-01T00:00:00Z"}}""", false)]
    [InlineData("{}", false)]
    public void A_document_with_other_metadata_is_put(string json, bool isRemoved)
    {
        using var node = Open();
        node.Run(Encode(node, [("a", """{"@metadata":{"@expires":"2099-01-01T00:00:00Z"}}""")]));
        using var rest = UnchangedPuts.Remove(Encode(node, [("a", json)]), node.Database(Database));
        Assert.Equal(isRemoved, rest is null);
    }

    private static SteppedNode Open()
    {
        var node = SteppedNode.Open(new SimulatedDisk(), "/data");
        node.CreateDatabase(Database);
        return node;
    }

    private static UInt128 ReadRequest(CommandBuffer command) => new CommandReader(command.Written.Span).Request;

    private static CommandBuffer Encode(SteppedNode node, (string Id, string Json)[] puts, IdempotencyKey key = default)
    {
        using var writer = new BatchWriter(
            CommandKind.BulkPut,
            node.Database(Database).Number,
            key,
            skipUnchanged: true
        );
        foreach (var (id, json) in puts)
        {
            using var parser = DocumentParser.Rent();
            Assert.True(parser.TryParse(Encoding.UTF8.GetBytes(json), out var document, out _));
            writer.Put(Encoding.UTF8.GetBytes(id), ExpectedChangeVector.None, document);
        }

        return writer.Complete();
    }
}
