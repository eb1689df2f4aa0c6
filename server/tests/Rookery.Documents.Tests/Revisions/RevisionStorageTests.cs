using Rookery.Documents.Commands;
using Rookery.Documents.Revisions;

namespace Rookery.Documents.Tests.Revisions;

/// <summary>How revisions are stored.</summary>
public sealed class RevisionStorageTests
{
    [Fact]
    public void A_hundred_revisions_that_differ_in_one_field_take_a_fifth_of_their_size_at_most()
    {
        using var node = new RevisedNode();
        node.Configure(new RevisionRule());
        const int Count = 100;
        long plain = 0;
        var random = new Random(1);
        string[] fields = [.. Enumerable.Range(0, 40).Select(i => Convert.ToHexString(NextBytes(random, 20)))];
        for (int i = 0; i < Count; i++)
        {
            fields[i % fields.Length] = Convert.ToHexString(NextBytes(random, 20));
            string json = $$"""{{{string.Join(',', fields.Select((field, n) => $"\"field{n}\":\"{field}\""))}}}""";
            plain += json.Length;
            node.Put("orders/1", json);
        }

        Assert.InRange(plain / Count, 2000, 2600);
        node.Node.Flush();
        // All tables of the database, with the document itself.
        long stored = node.Node.Core.Storage.Statistics().Groups.Sum(static group => group.Bytes);
        Assert.InRange(stored, 1, plain / 5);
        Assert.Equal(Count, node.Bodies("orders/1").Distinct(StringComparer.Ordinal).Count());
    }

    [Fact]
    public void A_large_document_has_revisions_that_are_stored_in_chunks_and_removed_with_them()
    {
        using var node = new RevisedNode();
        node.Configure(new RevisionRule { MinimumToKeep = 3 });
        var random = new Random(2);
        var expected = new List<string>();
        for (int i = 0; i < 8; i++)
        {
            string text = Convert.ToHexString(NextBytes(random, 60_000));
            expected.Insert(0, $"\"text\":\"{text}\"");
            node.Put("a", $$"""{"text":"{{text}}"}""");
        }

        Assert.Equal(expected.Take(3), node.Bodies("a"));
        node.Delete("a");
        Assert.Equal(["-", .. expected.Take(2)], node.Bodies("a"));
        node.Node.Flush();
        Assert.Equal(["-", .. expected.Take(2)], node.Bodies("a"));
    }

    [Fact]
    public void A_stream_of_puts_ends_its_command_before_its_revisions_are_too_long()
    {
        using var node = new RevisedNode();
        node.Configure(new RevisionRule());
        node.Put("a", $$"""{"text":"{{new string('x', 500_000)}}"}""");
        using var gathered = new GatheredCounters(node.Node.Database("db"));
        int puts = 0;
        while (!gathered.IsFull && puts < 100)
        {
            gathered.AddPut("a"u8);
            puts++;
        }

        Assert.Equal(9, puts); // of 500 kB each: a command may rewrite 4 MiB
    }

    private static byte[] NextBytes(Random random, int count)
    {
        byte[] bytes = new byte[count];
        random.NextBytes(bytes);
        return bytes;
    }
}
