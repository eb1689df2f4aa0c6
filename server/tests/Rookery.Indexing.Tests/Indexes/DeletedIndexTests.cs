using Rookery.Documents.Changes;
using Rookery.Documents.Indexes;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;
using Rookery.Platform;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>The catalogue removes deleted indexes, even if it gets the changes late or never.</summary>
public sealed class DeletedIndexTests
{
    private static readonly AutoIndexDefinition ByName = new(
        "Users",
        [new AutoIndexField(["name"], AutoIndexFieldUses.None)]
    );

    [Fact]
    public void The_catalogue_is_updated_again_when_the_etag_of_a_deletion_is_set_late()
    {
        using var node = IndexedNode.New();
        node.Define("a", ByName);
        node.SettleAll();
        node.ChangeIndexes(static writer => writer.Delete("a"));
        var database = node.Database();
        long deletion = database.LastIndexDeletion;
        database.LastIndexDeletion = 0;
        Assert.True(CatalogOf(node).Follow());
        Assert.False(CatalogOf(node).Follow());
        database.LastIndexDeletion = deletion;
        Assert.True(CatalogOf(node).Follow());
        Assert.False(CatalogOf(node).Follow());
    }

    [Fact]
    public void A_deletion_whose_change_was_dropped_is_applied_although_the_first_attempt_fails()
    {
        int closed = 0;
        using var node = IndexedNode.New(wrapStore: store => new ClosingStore(store, RefuseFirst));
        node.Define("a", ByName);
        node.Define("b", ByName);
        node.SettleAll();
        RunningIndex[] deleted = [node.Serving("a"), node.Serving("b")];
        // These changes fill the subscription, so the changes below are dropped.
        for (int i = 0; i < ChangeSubscription<IndexChange>.Capacity; i++)
        {
            node.Database().IndexChanges.Publish(new IndexChange(IndexChangeKind.Configured, "other", Etag: 1));
        }

        foreach (string name in (string[])["a", "b"])
        {
            node.ChangeIndexes(writer => writer.Delete(name));
            node.Define(name, ByName);
        }

        Assert.Throws<DiskException>(() => node.Host.Follow());
        node.Host.Follow();
        Assert.DoesNotContain(node.Serving("a"), deleted);
        Assert.DoesNotContain(node.Serving("b"), deleted);

        void RefuseFirst()
        {
            if (++closed == 1)
            {
                throw new DiskException("close", "/data", Errno.InputOutput);
            }
        }
    }

    private static IndexCatalog CatalogOf(IndexedNode node) =>
        node.Host.TryGetCatalog(node.Database(), out var catalog) ? catalog : throw new InvalidOperationException();
}
