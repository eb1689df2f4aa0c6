using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;
using Rookery.Storage;

namespace Rookery.Documents.Tests.Databases;

/// <summary>Look-ups that read no disk, for callers that must not block.</summary>
public sealed class DocumentLookupTests
{
    private readonly SimulatedDisk _disk = new();

    /// <summary>
    /// A thread that serves sockets must not read the disk, not even by using the document that a lookup returned.
    /// </summary>
    [Fact]
    public void A_lookup_in_memory_finds_documents_of_the_memtable_and_of_cached_blocks_only()
    {
        using (var node = SteppedNode.Open(_disk, "/data"))
        {
            node.CreateDatabase("db");
            node.Put("db", "small", """{"n":1}""");
            node.Put("db", "large", $$"""{"text":"{{new string('x', 3 << 20)}}"}""");
            node.Flush();
        }

        using var again = SteppedNode.Open(_disk, "/data");
        again.Put("db", "new", """{"n":2}""");
        Assert.Equal(RowLookup.Found, FindInMemory(again, "NEW"u8));
        Assert.Equal(RowLookup.NotInMemory, FindInMemory(again, "small"u8));
        Assert.Equal(RowLookup.Absent, FindInMemory(again, "in no filter"u8));

        Read(again, "small"u8);
        Assert.Equal(RowLookup.Found, FindInMemory(again, "small"u8));
        // Only the head of a large document is in the cache.
        Read(again, "large"u8);
        Assert.Equal(RowLookup.NotInMemory, FindInMemory(again, "large"u8));
    }

    private static void Read(SteppedNode node, ReadOnlySpan<byte> id)
    {
        using var reader = node.Database("db").OpenReader();
        Assert.True(reader.TryGetDocument(id, out var document));
        document.Dispose();
    }

    private static RowLookup FindInMemory(SteppedNode node, ReadOnlySpan<byte> id)
    {
        using var reader = node.Database("db").OpenReader();
        var lookup = reader.FindDocument(id, mayReadDisk: false, out var document);
        document.Dispose();
        return lookup;
    }
}
