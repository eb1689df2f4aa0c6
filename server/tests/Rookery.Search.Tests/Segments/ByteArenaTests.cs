using System.Text;
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

    [Fact]
    public void Fields_that_one_document_adds_take_no_memory_for_the_documents_before_it()
    {
        const int Fields = 1000;
        const int Before = 20_000;
        var share = new MemoryBudget(1 << 30).AddShare("batches", limitBytes: 1 << 30);
        using var batch = new SegmentBuilder(share);
        for (int document = 0; document < Before; document++)
        {
            Add(document, fields: 1);
        }

        long used = share.UsedBytes;
        Add(Before, Fields);
        Assert.InRange(share.UsedBytes - used, Fields, 16 << 20);
        var last = batch.Fields[Fields - 1];
        Assert.NotNull(last);
        Assert.Equal(-1, last.SortTermOf(Before - 1));
        Assert.True(batch.Terms.KeyOf(last.SortTermOf(Before)).SequenceEqual("t"u8));

        batch.Clear();
        Add(0, fields: 2);
        Assert.Equal(-1, last.SortTermOf(Before));

        void Add(int document, int fields)
        {
            batch.BeginDocument(Encoding.UTF8.GetBytes($"d/{document}"), etag: document + 1);
            batch.BeginEntry();
            for (int field = 0; field < fields; field++)
            {
                batch.AddTerm(field, "t"u8);
                batch.SetSortKey(field, "t"u8);
            }

            batch.EndEntry();
        }
    }
}
