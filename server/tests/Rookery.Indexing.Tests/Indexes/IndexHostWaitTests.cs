using System.Collections.Concurrent;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>Waits for an index that is paused, resumed, stopped or closed, and the closing of indexes.</summary>
public sealed class IndexHostWaitTests
{
    // Ends a test that would otherwise hang; a passing test never waits for it.
    private static readonly TimeSpan TestTimeout = TimeSpan.FromSeconds(60);

    private static readonly AutoIndexDefinition ByName = new(
        "Users",
        [new AutoIndexField(["name"], AutoIndexFieldUses.None)]
    );

    private static readonly AutoIndexDefinition ByAge = new(
        "Users",
        [new AutoIndexField(["age"], AutoIndexFieldUses.None)]
    );

    /// <summary>The wait would last an hour, and no definition changes, so only the resumption ends it.</summary>
    [Fact]
    public async Task A_released_wait_continues_if_the_index_has_resumed()
    {
        using var node = IndexedNode.New();
        node.Define(ByName.Name, ByName);
        node.SettleAll();
        node.Put("a", "\"name\":1");
        using var continuations = new HeldContinuations();
        var waiting = continuations.Within(() =>
            node.Host.WaitAsync(
                node.Database(),
                ByName.Name,
                node.Database().LastEtag,
                TimeSpan.FromHours(1),
                CancellationToken.None
            )
        );
        node.Host.SetPaused(node.Database(), ByName.Name, isPaused: true);
        node.Host.SetPaused(node.Database(), ByName.Name, isPaused: false);
        node.SettleAll();
        continuations.RunUntil(waiting);
        Assert.True(waiting.IsCompleted && await waiting);
    }

    /// <summary>A released task looks the index up again at once, while the index is closing.</summary>
    [Fact]
    public async Task A_wait_for_an_index_ends_at_once_when_its_database_is_deleted()
    {
        using var continuations = new HeldContinuations();
        Task<bool>? waiting = null;
        using var node = IndexedNode.New(wrapStore: store => new ClosingStore(
            store,
            () => continuations.RunUntil(waiting!)
        ));
        node.Define(ByName.Name, ByName);
        node.SettleAll();
        node.Put("a", "\"name\":1");
        waiting = continuations.Within(() => WaitPatiently(node, ByName.Name));
        node.Run(CommandEncoder.DeleteDatabases(["shop"]));
        node.Settle();
        Assert.True(waiting.IsCompleted);
        await Assert.ThrowsAsync<DatabaseGoneException>(() => waiting);
    }

    [Fact]
    public async Task A_wait_for_a_stopped_index_ends_at_once_when_its_replacement_stops_too()
    {
        using var node = CreateNodeWithStoppedIndex();
        node.Define("""{"Maps":["from u in docs.Users select new { b = 1 / (u.n - u.n) }"]}""", "Failing");
        node.Host.Follow();
        var waiting = WaitPatiently(node, "Failing");
        node.Settle();
        Assert.False(await waiting.WaitAsync(TestTimeout));
    }

    [Fact]
    public async Task A_wait_for_a_stopped_index_ends_at_once_when_its_next_definition_is_not_maintained()
    {
        using var node = CreateNodeWithStoppedIndex();
        node.ChangeIndexes(static writer =>
            writer.Put("Failing", "{\"of\":\"another version\"}"u8.ToArray(), settings: default)
        );
        var waiting = WaitPatiently(node, "Failing");
        node.Settle();
        Assert.False(await waiting.WaitAsync(TestTimeout));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_wait_for_an_index_ends_at_once_when_the_node_stops(bool isOpen)
    {
        using var node = IndexedNode.New();
        node.Define(ByName.Name, ByName);
        if (isOpen)
        {
            node.SettleAll();
            node.Put("a", "\"name\":1");
        }

        var waiting = WaitPatiently(node, ByName.Name);
        node.Host.Dispose();
        Assert.False(await waiting.WaitAsync(TestTimeout));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void An_index_that_cannot_be_closed_keeps_no_other_open(bool areDatabasesDeleted)
    {
        int closed = 0;
        using var node = IndexedNode.New(wrapStore: store => new ClosingStore(store, RefuseFirst));
        node.CreateDatabase("depot");
        foreach (string database in (string[])["shop", "depot"])
        {
            node.Define(ByName.Name, ByName, database);
            node.Define(ByAge.Name, ByAge, database);
        }

        node.SettleAll();
        if (areDatabasesDeleted)
        {
            node.Run(CommandEncoder.DeleteDatabases(["shop", "depot"]));
        }

        Action close = areDatabasesDeleted ? () => node.Host.Follow() : node.Host.Dispose;
        Assert.Throws<DiskException>(close);
        Assert.Equal(4, closed); // both indexes of both databases

        void RefuseFirst()
        {
            if (++closed == 1)
            {
                throw new DiskException("close", "/data", Errno.InputOutput);
            }
        }
    }

    [Fact]
    public void The_exception_has_one_inner_exception_for_each_index_that_cannot_be_closed()
    {
        int closed = 0;
        var node = IndexedNode.New(wrapStore: store => new ClosingStore(store, Refuse));
        node.CreateDatabase("depot");
        foreach (string database in (string[])["shop", "depot"])
        {
            node.Define(ByName.Name, ByName, database);
            node.Define(ByAge.Name, ByAge, database);
        }

        node.SettleAll();
        var refused = Assert.Throws<AggregateException>(node.Host.Dispose);
        Assert.Equal(4, refused.InnerExceptions.Count);
        Assert.All(refused.InnerExceptions, static inner => Assert.IsType<DiskException>(inner));
        node.Dispose();

        void Refuse() => throw new DiskException("close", $"/data/{++closed}", Errno.InputOutput);
    }

    [Fact]
    public void The_map_of_an_index_is_closed_although_its_store_cannot_be()
    {
        using var node = IndexedNode.New();
        node.Define(ByName.Name, ByName);
        node.SettleAll();
        var serving = node.Serving(ByName.Name);
        var map = new ClosedMap();
        var store = new ClosingStore(
            serving.Store,
            static () => throw new DiskException("close", "/data", Errno.InputOutput)
        );
        var index = new RunningIndex(serving.Record, map, store, node.Time, node.Store.HasReapplied);
        Assert.Throws<DiskException>(index.Dispose);
        Assert.True(map.IsClosed);
    }

    /// <summary>Creates a node whose index has stopped, because each of its documents fails.</summary>
    private static IndexedNode CreateNodeWithStoppedIndex()
    {
        var node = IndexedNode.New();
        node.Define("""{"Maps":["from u in docs.Users select new { a = 1 / (u.n - u.n) }"]}""", "Failing");
        for (int number = 0; number < 150; number++)
        {
            node.Put($"users/{number}", "\"n\":1");
        }

        node.SettleAll();
        Assert.True(node.Serving("Failing").HasStopped);
        return node;
    }

    /// <summary>Waits for up to an hour, even if the index is paused or disabled.</summary>
    private static Task<bool> WaitPatiently(IndexedNode node, string name) =>
        node.Host.WaitAsync(
            node.Database(),
            name,
            node.Database().LastEtag,
            TimeSpan.FromHours(1),
            CancellationToken.None,
            whilePausedOrDisabled: true
        );

    /// <summary>Runs the continuations of an await only when the test asks for it.</summary>
    private sealed class HeldContinuations : SynchronizationContext, IDisposable
    {
        private readonly BlockingCollection<(SendOrPostCallback Callback, object? State)> _posted = [];

        public override void Post(SendOrPostCallback d, object? state) => _posted.Add((d, state));

        /// <summary>Starts work whose continuations are held.</summary>
        public TResult Within<TResult>(Func<TResult> act)
        {
            var before = Current;
            SetSynchronizationContext(this);
            try
            {
                return act();
            }
            finally
            {
                SetSynchronizationContext(before);
            }
        }

        /// <summary>Runs continuations until a task completes, or none comes.</summary>
        public void RunUntil(Task ended)
        {
            while (!ended.IsCompleted && _posted.TryTake(out var posted, TestTimeout))
            {
                Within<object?>(() =>
                {
                    posted.Callback(posted.State);
                    return null;
                });
            }
        }

        public void Dispose() => _posted.Dispose();
    }

    /// <summary>A map that records whether it was closed.</summary>
    private sealed class ClosedMap : IIndexMap, IDisposable
    {
        public IReadOnlyList<string> Collections => [];

        public IReadOnlyList<MappedField> Fields => [];

        public IReadOnlyList<string> LoadedCollections => [];

        public bool IsClosed { get; private set; }

        public void Map(in QueriedDocument document, IndexEntry entry) => entry.Clear();

        public void Dispose() => IsClosed = true;
    }
}
