using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Answering;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Tests.Execution;

/// <summary>Queries while an index is reset, which deletes its content and builds it again.</summary>
public sealed class IndexResetTests
{
    private static readonly AutoIndexDefinition ByName = new(
        "Users",
        [new AutoIndexField(["name"], AutoIndexFieldUses.None)]
    );

    [Fact]
    public void An_index_that_was_reset_after_the_wait_does_not_answer()
    {
        using var node = IndexedNode.New();
        node.Define(ByName.Name, ByName);
        for (int i = 0; i < 30; i++)
        {
            node.Put($"users/{i}", "\"name\":\"ann\"");
        }

        node.SettleAll();
        long visibleEtag = node.Serving(ByName.Name).VisibleEtag;
        Assert.Equal(30, CountResults(node, visibleEtag));
        Assert.True(node.Host.Reset(node.Database(), ByName.Name));
        node.Follow();
        Assert.Null(CountResults(node, visibleEtag));
        Assert.Equal(0, CountResults(node, minimumEtag: 0));
        node.SettleAll();
        Assert.Equal(30, CountResults(node, visibleEtag));
    }

    [Fact]
    public void An_index_is_stale_from_the_request_of_its_reset_until_it_is_rebuilt()
    {
        using var node = IndexedNode.New();
        node.Define(ByName.Name, ByName);
        node.Put("users/1", "\"name\":\"ann\"");
        node.SettleAll();
        Assert.False(IsStale());
        Assert.True(node.Host.Reset(node.Database(), ByName.Name));
        Assert.True(IsStale());
        node.Follow();
        Assert.True(IsStale());
        node.SettleAll();
        Assert.False(IsStale());

        bool IsStale() => Assert.Single(node.Host.ReadStatus(node.Database())).IsStale;
    }

    [Fact]
    public async Task A_scan_that_replaces_an_index_that_was_reset_is_not_reported_as_stale()
    {
        using var node = IndexedNode.New();
        node.Define(ByName.Name, ByName);
        node.Put("users/1", "\"name\":\"ann\"");
        node.SettleAll();
        node.Put("users/2", "\"name\":\"ann\"");
        var share = new MemoryBudget(64 << 20).AddShare("queries", limitBytes: 64 << 20);
        var engine = new QueryEngine(node.Host, new NoDefinitions(), share, node.Time, CancellationToken.None);
        var plan = engine.Plan(
            node.Database(),
            new QueryRequest("from Users where name = 'ann'", "{}"u8.ToArray(), Start: 0, long.MaxValue, Wait: null)
        );
        var execution = engine.ExecuteAsync(node.Database(), plan, new AnswerSink(), onBasisChosen: Reset).AsTask();

        // The index lags, and the query waits for it in vain.
        node.Time.Advance(BasisChooser.ImplicitWait);
        using var answer = await execution;
        Assert.Equal((false, null), (answer.IsStale, answer.Timestamp));
        Assert.Equal(node.Database().LastEtag, answer.ResultEtag);
        // Both documents, also the one that the index lacked.
        Assert.True(await answer.Results.MoveNextAsync());
        Assert.True(await answer.Results.MoveNextAsync());
        Assert.False(await answer.Results.MoveNextAsync());

        void Reset()
        {
            Assert.True(node.Host.Reset(node.Database(), ByName.Name));
            node.Follow();
        }
    }

    /// <summary>Returns the number of results of the index; null if it does not answer.</summary>
    private static long? CountResults(IndexedNode node, long minimumEtag)
    {
        var share = new MemoryBudget(64 << 20).AddShare("queries", limitBytes: 64 << 20);
        var plan = CompiledQuery.Compile(
            RqlParser.Parse("from Users where name = 'ann'"),
            QueryParameters.None,
            new FullTextConditions(static _ => IndexedQueries.Analyzer)
        );
        using var answer = new IndexedQueries(node.Host).TryAnswer(
            node.Database(),
            ByName.Name,
            plan,
            new QueryMemory(share),
            new PatientClock(),
            minimumEtag: minimumEtag
        );
        return answer?.TotalResults;
    }

    private sealed class NoDefinitions : IAutomaticIndexes
    {
        public bool HaveFailedLately => true;

        public void RecordFailure() { }

        public void RecordUse(Database database, string name) { }

        public Task<Rejection?> DefineAsync(Database database, IAutoDefinition definition) =>
            throw new InvalidOperationException("The index exists already.");
    }

    private sealed class AnswerSink : IAnswerSink
    {
        public CancellationToken Disconnected => CancellationToken.None;

        public bool TryReserve(long bytes) => true;

        public Task WaitForMemoryAsync(long bytes) => Task.CompletedTask;

        public ValueTask<bool> TryReserveAsync(long bytes, Action stepBack) => new(true);

        public void AbortConnection() => throw new InvalidOperationException("No snapshot ends in this test.");
    }

    private sealed class PatientClock : IWorkLimits
    {
        public void CheckLimits() { }
    }
}
