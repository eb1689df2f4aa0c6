using Rookery.Documents.Apply;
using Rookery.Documents.Indexes;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>
/// After a start, a node does not know which entries at its journal's end are committed. Until it does, its indexes may
/// include changes that its documents lack.
/// </summary>
public sealed class ReappliedTests : IDisposable
{
    private static readonly AutoIndexDefinition ByName = new(
        "Users",
        [new AutoIndexField(["name"], AutoIndexFieldUses.None)]
    );

    private IndexedNode _node = IndexedNode.New();

    public ReappliedTests()
    {
        _node.Define(ByName.Name, ByName);
        _node.Put("users/1", "\"name\":\"ann\"");
        _node.SettleAll();
    }

    [Fact]
    public void An_index_is_stale_until_the_node_has_applied_again_what_the_index_includes()
    {
        _node.Put("users/1", "\"name\":\"bob\"");
        _node.SettleAll();

        _node = _node.Restart(unapplied: 1);
        _node.Settle();
        AssertIsStale();

        _node.ApplyThrough(_node.Store.Journal.LastIndex);
        _node.Settle();
        AssertIsUpToDate();
    }

    /// <summary>
    /// A build reads newer documents than those of its etag, and so does a map that loads documents. So the etag alone
    /// does not show whether the index is ahead of the documents.
    /// </summary>
    [Fact]
    public void An_index_is_stale_although_its_etag_was_applied()
    {
        _node = _node.Restart();
        _node.Settle();
        AssertIsUpToDate();

        _node.Put("users/2", "\"name\":\"bob\"");
        _node = _node.Restart(unapplied: 1);
        _node.Settle();
        AssertIsStale();
        _node.ApplyThrough(_node.Store.Journal.LastIndex);
        _node.SettleAll();
        AssertIsUpToDate();
    }

    /// <summary>The entries at the journal's end were never committed. Those of a new leader replace them.</summary>
    [Fact]
    public void An_index_is_no_longer_stale_when_an_entry_of_a_later_term_is_applied()
    {
        _node.Put("users/2", "\"name\":\"bob\"");
        _node.Put("users/3", "\"name\":\"cid\"");
        _node = _node.Restart(unapplied: 2);
        _node.Settle();
        AssertIsStale();

        var storage = _node.Store.Storage;
        _node.Store.Applier.Apply(
            new LogEntryPosition(storage.AppliedIndex + 1, _node.Store.Journal.LastTerm + 1, storage.Sequence, 0),
            [],
            []
        );
        _node.Settle();
        AssertIsUpToDate();
    }

    [Fact]
    public void A_disabled_index_is_no_longer_stale_once_its_changes_are_applied_again()
    {
        _node.ChangeIndexes(static writer => writer.Configure(ByName.Name, new IndexSettingsChange(IsDisabled: true)));
        _node.SettleAll();
        _node = _node.Restart(unapplied: 1);
        _node.Settle();
        AssertIsStale();

        _node.ApplyThrough(_node.Store.Journal.LastIndex);
        _node.Settle();
        Assert.Equal(IndexState.Disabled, _node.Status(ByName.Name).State);
        AssertIsUpToDate();
    }

    public void Dispose() => _node.Dispose();

    private void AssertIsStale()
    {
        Assert.True(_node.Status(ByName.Name).IsStale);
        Assert.Equal(0, _node.Serving(ByName.Name).ConsistentEtag);
    }

    private void AssertIsUpToDate()
    {
        Assert.False(_node.Status(ByName.Name).IsStale);
        Assert.Equal(_node.Database().LastEtag, _node.Serving(ByName.Name).ConsistentEtag);
        _node.Check(ByName.Name, ByName);
    }
}
