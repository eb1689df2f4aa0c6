using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Parsing;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>
/// Requests that are repeated with the same idempotency key. A key is kept for 24 hours; each later command with a key
/// removes up to two that have expired.
/// </summary>
public sealed class IdempotencyTests
{
    private readonly SimulatedDisk _disk = new();
    private readonly SimulatedTimeProvider _time = new(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero));

    [Fact]
    public void A_retry_without_an_id_gets_the_first_guid_even_after_a_restart()
    {
        string? first;
        using (var node = Open())
        {
            node.CreateDatabase("db");
            first = node.Propose(Put(node, "", "{}", key: 1))[0].Id;
            const int guidLength = 36;
            Assert.Equal(guidLength, first?.Length);
            Assert.Equal(first, node.Propose(Put(node, "", "{}", key: 1))[0].Id);
        }

        using (var replayed = Open())
        {
            Assert.Equal(first, replayed.Propose(Put(replayed, "", "{}", key: 1))[0].Id);
            replayed.Flush();
        }

        using var flushed = Open();
        Assert.Equal(first, flushed.Propose(Put(flushed, "", "{}", key: 1))[0].Id);
        Assert.Equal([first!], flushed.Documents("db").Keys);
    }

    [Fact]
    public void Another_request_with_the_same_key_is_refused_until_the_key_expires()
    {
        using var node = Open();
        node.CreateDatabase("db");
        node.Run(Put(node, "a", """{"n":1}""", key: 1));
        Assert.Equal(
            RejectionKind.IdempotencyKeyReused,
            node.Propose(Put(node, "a", """{"n":2}""", key: 1)).Rejection?.Kind
        );
        Assert.Equal("\"n\":1", node.Documents("db")["a"]);

        // The same request again is answered as before.
        node.Run(Put(node, "a", """{"n":1}""", key: 1));
        _time.Advance(TimeSpan.FromHours(25));
        node.Run(Put(node, "a", """{"n":2}""", key: 1));
        Assert.Equal("\"n\":2", node.Documents("db")["a"]);
        Assert.Equal(
            RejectionKind.IdempotencyKeyReused,
            node.Propose(Put(node, "a", """{"n":1}""", key: 1)).Rejection?.Kind
        );
    }

    [Fact]
    public void Keys_of_one_entry_are_all_removed_even_after_a_restart()
    {
        using (var node = Open())
        {
            node.CreateDatabase("db");
            for (ulong key = 1; key <= 9; key++)
            {
                _ = node.Consensus.ProposeAsync(Put(node, "a", "{}", key), CancellationToken.None).AsTask();
            }

            node.Commit();
            _time.Advance(TimeSpan.FromHours(25));
            // Four of the nine keys are removed before the restart, and five after it.
            node.Run(Put(node, "a", "{}", key: 10));
            node.Run(Put(node, "a", "{}", key: 11));
            node.Flush();
        }

        using var again = Open();
        for (ulong key = 12; key <= 14; key++)
        {
            again.Run(Put(again, "a", "{}", key));
        }

        // Keys 10 to 14.
        Assert.Equal(5, CountKeys(again));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void The_oldest_keys_are_removed_in_order_whenever_the_node_restarts(bool restarts)
    {
        var node = Open();
        node.CreateDatabase("db");
        for (ulong key = 1; key <= 100; key++)
        {
            node.Run(Put(node, "a", "{}", key));
        }

        _time.Advance(TimeSpan.FromHours(25));
        // Key 50 has expired, so this is a new use, which makes the key the newest. The command removes two other keys.
        node.Run(Put(node, "a", "{}", key: 50));
        for (ulong key = 101; key <= 140; key++)
        {
            if (restarts && key % 7 == 0)
            {
                if (key % 2 == 0)
                {
                    node.Flush();
                }

                node.Dispose();
                node = Open();
            }

            node.Run(Put(node, "a", "{}", key));
        }

        using (node)
        {
            // 41 commands removed two keys each: 1 to 83 without 50.
            ulong[] expected = [50, .. Numbers(84, 100), .. Numbers(101, 140)];
            Assert.Equal(expected, IdempotencyRows.KeysOf(node.Core, "db"));
            Assert.Equal([.. Numbers(84, 100), 50, .. Numbers(101, 140)], IdempotencyRows.OrderOf(node.Core, "db"));
        }
    }

    private static IEnumerable<ulong> Numbers(int first, int last) =>
        Enumerable.Range(first, last - first + 1).Select(static number => (ulong)number);

    private static int CountKeys(SteppedNode node) => IdempotencyRows.KeysOf(node.Core, "db").Count;

    [Fact]
    public void A_refused_request_does_not_use_its_key()
    {
        using var node = Open();
        node.CreateDatabase("db");
        using var parser = DocumentParser.Rent();
        Assert.True(parser.TryParse("{}"u8, out var document, out _));
        var key = new IdempotencyKey(1, 1);
        uint database = node.Database("db").Number;
        Assert.Equal(
            RejectionKind.ConcurrencyConflict,
            node.Propose(
                CommandEncoder.Put(database, "a"u8, ExpectedChangeVector.MustEqual("A:1-x"u8), document, key)
            ).Rejection?.Kind
        );
        Assert.Null(
            node.Propose(CommandEncoder.Put(database, "a"u8, ExpectedChangeVector.None, document, key)).Rejection
        );
    }

    private static CommandBuffer Put(SteppedNode node, string id, string json, ulong key)
    {
        using var parser = DocumentParser.Rent();
        Assert.True(parser.TryParse(Encoding.UTF8.GetBytes(json), out var document, out _));
        return CommandEncoder.Put(
            node.Database("db").Number,
            Encoding.UTF8.GetBytes(id),
            ExpectedChangeVector.None,
            document,
            new IdempotencyKey(key, key)
        );
    }

    private SteppedNode Open() => SteppedNode.Open(_disk, "/data", _time);
}
