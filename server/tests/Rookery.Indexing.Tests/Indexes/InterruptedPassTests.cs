using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Search.Segments.Store;
using Rookery.Storage;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>Passes over changes that end early because the node ended their snapshot.</summary>
public sealed class InterruptedPassTests
{
    private static readonly AutoIndexField Name = new(["name"], AutoIndexFieldUses.None);
    private static readonly AutoIndexDefinition ByName = new("Users", [Name]);
    private static readonly AutoIndexDefinition OfOthers = new("Others", [Name]);

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void A_pass_that_ends_early_starts_again_and_misses_nothing(int seed)
    {
        var random = new Random(seed);
        bool isInterrupting = true;
        using var node = IndexedNode.New(wrapStore: store => new InterruptingStore(
            store,
            () => isInterrupting && random.Next(6) == 0
        ));
        for (int step = 0; step < 400; step++)
        {
            string id = $"users/{random.Next(40)}";
            if (random.Next(4) == 0)
            {
                node.Delete(id);
            }
            else
            {
                node.Put(id, $"\"name\":\"n{random.Next(9)}\"", random.Next(5) == 0 ? "Others" : "Users");
            }

            // Two indexes are defined among the changes, and two later.
            if (step is 60 or 200)
            {
                node.Define(step == 60 ? "first" : "second", ByName);
                node.Define(step == 60 ? "other" : "last", OfOthers);
            }

            for (int work = random.Next(3); work > 0; work--)
            {
                node.Host.Step();
            }

            if (random.Next(20) == 0)
            {
                node.Time.Advance(IndexedNode.SmallSteps.PendingAge);
            }
        }

        isInterrupting = false;
        node.SettleAll();
        node.Check("first", ByName);
        node.Check("second", ByName);
        node.Check("other", OfOthers);
        node.Check("last", OfOthers);
        Assert.Empty(node.Troubles);
    }

    /// <summary>A store whose changes sometimes fail as if the node had ended the snapshot of the pass.</summary>
    private sealed class InterruptingStore(IIndexStore inner, Func<bool> isInterrupted) : IIndexStore
    {
        public long Watermark => inner.Watermark;

        public bool IsEmpty => inner.IsEmpty;

        public long Documents => inner.Documents;

        public long PendingBytes => inner.PendingBytes;

        public void Put(ReadOnlySpan<byte> lowerId, long etag, IndexEntry entry)
        {
            ThrowIfInterrupted();
            inner.Put(lowerId, etag, entry);
        }

        public void Delete(ReadOnlySpan<byte> lowerId)
        {
            ThrowIfInterrupted();
            inner.Delete(lowerId);
        }

        public void Apply(long watermark) => inner.Apply(watermark);

        public IndexSnapshot OpenSnapshot() => inner.OpenSnapshot();

        public bool MergeOnce() => inner.MergeOnce();

        public void TrimIdle() => inner.TrimIdle();

        public void Dispose() => inner.Dispose();

        private void ThrowIfInterrupted()
        {
            if (isInterrupted())
            {
                throw new SnapshotEndedException();
            }
        }
    }
}
