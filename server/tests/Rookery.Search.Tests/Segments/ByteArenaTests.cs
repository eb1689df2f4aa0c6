using Rookery.Platform;
using Rookery.Search.Segments.Writing;

namespace Rookery.Search.Tests.Segments;

/// <summary>The memory that a batch of documents takes.</summary>
public sealed class ByteArenaTests
{
    [Fact]
    public void An_allocation_longer_than_a_chunk_counts_with_all_its_bytes()
    {
        var share = new MemoryBudget(64 << 20).AddShare("batches", limitBytes: 64 << 20);
        using var arena = new ByteArena(share);
        arena.Allocate(10);
        int address = arena.Allocate(1 << 20);
        arena.Allocate(10);
        Assert.Equal(1 << 20, arena.SpanAt(address).Length);
        Assert.InRange(arena.TakenBytes, 1 << 20, share.UsedBytes);
        arena.Clear();
        Assert.Equal(0, arena.TakenBytes);
    }
}
