using System.Text;
using System.Text.Json;
using Rookery.Documents.Commands;
using Rookery.Documents.Parsing;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;

namespace Rookery.Queries.Tests.Answering;

/// <summary>
/// An answer of an index that is not stale reads the documents in the snapshot that the index reflects.
/// </summary>
public sealed class OneSnapshotTests : IDisposable
{
    private const string Ann = "from Users where name = 'ann'";
    private static readonly TimeSpan Wait = TimeSpan.FromHours(1);

    // An index holds the snapshot that it reflects for this long, so that queries can read documents in it.
    private static readonly TimeSpan DocumentsAge = TimeSpan.FromSeconds(10);

    private static readonly AutoIndexDefinition ByName = new(
        "Users",
        [new AutoIndexField(["name"], AutoIndexFieldUses.None)]
    );

    private readonly IndexedNode _node = IndexedNode.New(IndexedNode.SmallSteps with { DocumentsPerStep = 1 });
    private readonly QueriedNode _queries;
    private readonly Lock _gate = new();
    private Action? _meanwhile;
    private int _moves;

    public OneSnapshotTests()
    {
        _queries = new QueriedNode(_node, () => Interlocked.Exchange(ref _meanwhile, null)?.Invoke());
        _node.Define(ByName.Name, ByName);
        _node.Put("users/0", "\"name\":\"ann\",\"key\":\"k\"");
        _node.SettleAll();
    }

    [Fact]
    public async Task A_document_that_moves_to_another_id_during_the_query_is_found_once()
    {
        for (int i = 0; i < 5; i++)
        {
            Assert.Equal([_moves], await AskAsync(Move));
            _node.SettleAll();
        }
    }

    /// <summary>
    /// The snapshot that the index reflects was released, so a query reads a new one and waits until the index reflects
    /// that.
    /// </summary>
    [Fact]
    public async Task A_document_that_moves_after_the_snapshot_was_released_is_found_once()
    {
        Assert.True(_node.Host.TryGetCatalog(_node.Database(), out var catalog));
        for (int i = 0; i < 3; i++)
        {
            Assert.True(catalog.Feeder.HoldsDocuments);
            _node.Time.Advance(TimeSpan.FromSeconds(10));
            _node.Settle();
            Assert.False(catalog.Feeder.HoldsDocuments);
            Assert.Equal([_moves], await AskAsync(static () => { }));
            Assert.Equal([_moves + 1], await AskAsync(Move));
            _node.SettleAll();
        }
    }

    [Fact]
    public async Task An_answer_without_a_wait_is_stale_if_the_snapshot_that_the_index_reflects_was_released()
    {
        PutTooManyToScan();
        _node.Host.SetPaused(_node.Database(), ByName.Name, isPaused: true);
        _node.Time.Advance(TimeSpan.FromSeconds(10));
        _node.Settle();
        Assert.False((await _queries.AskAsync(Ann, wait: null)).IsStale);
        _meanwhile = Move;
        Assert.True((await _queries.AskAsync(Ann, wait: null)).IsStale);
    }

    [Fact]
    public async Task An_included_compare_exchange_value_is_the_last_that_was_acknowledged()
    {
        PutValue("\"ann\"");
        var asking = _queries.AskAsync(
            Ann + " include cmpxchg(key)",
            Wait,
            static answer =>
            {
                Assert.True(answer.Results.Reader.TryGetCompareExchange("k"u8, out var value));
                using (value)
                {
                    Assert.Contains("ann", Encoding.UTF8.GetString(value.View.Body), StringComparison.Ordinal);
                }
            }
        );
        await StepUntilAsync(asking);
        Assert.Single((await asking).Rows);
    }

    /// <summary>The value expires with an entry of another database, which changes nothing in this one.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_included_compare_exchange_value_that_has_expired_is_absent(bool changesDocument)
    {
        _node.CreateDatabase("other");
        PutValue("1", key: "far", expiresAtTicks: DateTime.MaxValue.Ticks);
        long now;
        using (var reader = _node.Database().OpenReader())
        {
            now = reader.ReadExpiryTicks();
        }

        // Each entry of the log advances the log's time by one tick.
        PutValue("\"ann\"", expiresAtTicks: now + 3);
        _node.Put("users/0", "\"name\":\"ann\",\"key\":\"k\"");
        _node.SettleAll();
        Assert.True(await HasValueAsync(static () => { }));
        Assert.False(
            await HasValueAsync(() =>
            {
                _node.Put("a", "", database: "other");
                if (changesDocument)
                {
                    Move();
                }
            })
        );

        async Task<bool> HasValueAsync(Action meanwhile)
        {
            bool isFound = false;
            _meanwhile = meanwhile;
            var asking = _queries.AskAsync(
                Ann + " include cmpxchg(key)",
                Wait,
                answer =>
                {
                    isFound = answer.Results.Reader.TryGetCompareExchange("k"u8, out var value);
                    if (isFound)
                    {
                        value.Dispose();
                    }
                }
            );
            await StepUntilAsync(asking);
            var (isStale, rows) = await asking;
            Assert.False(isStale);
            Assert.Single(rows);
            return isFound;
        }
    }

    [Fact]
    public async Task A_condition_reads_the_last_acknowledged_compare_exchange_value()
    {
        PutValue("\"ann\"");
        Assert.Single(await FindAsync());
        PutValue("\"bob\"", index: _node.Database().LastEtag);
        Assert.Empty(await FindAsync());

        async Task<JsonElement[]> FindAsync() =>
            (await _queries.AskAsync("from Users where name = cmpxchg('k')", Wait)).Rows;
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task All_searches_of_an_answer_read_one_state_of_an_index_that_is_reset_or_replaced(bool isReplaced)
    {
        const string Rows = "Rows";
        DefineRows("o.words");
        for (int i = 1; i < 4; i++)
        {
            _node.Put($"texts/{i}", $"\"n\":{i},\"words\":\"of the bank\"", "Texts");
        }

        _node.SettleAll();
        bool isChosen = false;
        bool isGone = false;
        var queries = new QueriedNode(_node, RemoveOnce);
        var asking = queries.AskAsync(
            """
            from index 'Rows' where moreLikeThis(n = 2, '{"MinimumTermFrequency":1,"MinimumDocumentFrequency":1}')
            """,
            Wait,
            onBasisChosen: () => isChosen = true
        );
        await StepUntilAsync(asking);
        var (isStale, rows) = await asking;
        Assert.True(isGone);
        Assert.False(isStale);
        Assert.Equal([1, 3], rows.Select(static row => row.GetProperty("n").GetInt32()).Order());

        // Called while the query reads the model, the document with which moreLikeThis compares.
        void RemoveOnce()
        {
            if (!isChosen || isGone)
            {
                return;
            }

            isGone = true;
            if (isReplaced)
            {
                DefineRows("o.words + ''");
                _node.SettleAll();
            }
            else
            {
                _node.Host.Reset(_node.Database(), Rows);
                _node.Follow();
            }
        }

        void DefineRows(string words) =>
            _node.Define(
                """
                {"Maps":["map('Texts', o => ({ n: o.n, words: WORDS }))"],"Fields":{"words":{"Indexing":"Search"}}}
                """.Replace("WORDS", words, StringComparison.Ordinal),
                Rows
            );
    }

    [Fact]
    public async Task A_query_that_is_tried_again_waits_no_longer_than_its_wait_in_total()
    {
        var queries = new QueriedNode(_node, static () => { }, _node.Time);
        int choices = 0;
        var asking = queries.AskAsync(
            Ann,
            TimeSpan.FromSeconds(15),
            onBasisChosen: () =>
            {
                choices++;
                ReleaseSnapshotAndChangeDocument();
            }
        );
        Assert.False(asking.IsCompleted);
        _node.Time.Advance(TimeSpan.FromSeconds(15) - DocumentsAge);
        var refused = await Assert.ThrowsAsync<QueryException>(() => asking.WaitAsync(TimeSpan.FromSeconds(20)));
        Assert.Equal(QueryFault.IndexBehind, refused.Fault);
        Assert.Equal(1, choices);
    }

    [Fact]
    public async Task A_query_is_refused_only_after_its_last_try_and_the_message_has_the_reason()
    {
        PutTooManyToScan();
        int choices = 0;
        var (isStale, rows) = await AskWithReleasesAsync(Wait, releases: 2);
        Assert.False(isStale);
        Assert.Single(rows);
        Assert.Equal(3, choices);
        var refused = await Assert.ThrowsAsync<QueryException>(() => AskWithReleasesAsync(Wait, releases: 3));
        Assert.Equal(3, choices);
        Assert.Contains("3 times", refused.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("did not catch up", refused.Message, StringComparison.Ordinal);
        Assert.True((await AskWithReleasesAsync(wait: null, releases: 3)).IsStale);

        async Task<(bool IsStale, JsonElement[] Rows)> AskWithReleasesAsync(TimeSpan? wait, int releases)
        {
            choices = 0;
            _node.SettleAll();
            var asking = _queries.AskAsync(Ann, wait, onBasisChosen: Choose);
            await StepUntilAsync(asking);
            return await asking;

            void Choose()
            {
                lock (_gate)
                {
                    if (++choices <= releases)
                    {
                        ReleaseSnapshotAndChangeDocument();
                    }
                }
            }
        }
    }

    /// <summary>A change is visible to readers shortly before the database knows its etag.</summary>
    [Fact]
    public async Task A_query_waits_for_a_change_that_it_saw_before_the_database_knew_its_etag()
    {
        int choices = 0;
        long last = 0;
        var asking = _queries.AskAsync(Ann, Wait, onBasisChosen: Choose);
        Assert.False(asking.IsCompleted);
        Assert.Equal(1, choices);
        _node.SetLastEtag(last);
        await StepUntilAsync(asking);
        Assert.False((await asking).IsStale);
        Assert.Equal(2, choices);

        void Choose()
        {
            if (++choices == 1)
            {
                long before = _node.Database().LastEtag;
                ReleaseSnapshotAndChangeDocument();
                last = _node.Database().LastEtag;
                _node.SetLastEtag(before);
            }
        }
    }

    public void Dispose() => _node.Dispose();

    // Releases the snapshot that the index reflects, and changes a document.
    private void ReleaseSnapshotAndChangeDocument()
    {
        Assert.True(_node.Host.TryGetCatalog(_node.Database(), out var catalog));
        _node.Time.Advance(DocumentsAge);
        catalog.Feeder.InterruptPasses();
        Assert.False(catalog.Feeder.HoldsDocuments);
        Move();
    }

    private void PutValue(string json, string key = "k", long index = 0, long expiresAtTicks = 0)
    {
        using var parser = DocumentParser.Rent();
        byte[] body = Encoding.UTF8.GetBytes($$"""{"Object":{{json}}}""");
        Assert.True(CompareExchangeValue.TryParse(parser, body, out var value, out var error), error.ToString());
        value = value with { ExpiresAtTicks = expiresAtTicks };
        byte[] keyBytes = Encoding.UTF8.GetBytes(key);
        _node.Run(CommandEncoder.PutCompareExchange(_node.Database().Number, keyBytes, index, value, default));
    }

    private void Move()
    {
        lock (_gate)
        {
            _node.Transact(
                ($"users/{_moves + 1}", $"\"name\":\"ann\",\"n\":{_moves + 1}", "Users"),
                ($"users/{_moves}", null, "Users")
            );
            _moves++;
        }
    }

    // Asks the query, and returns the numbers of the found documents.
    private async Task<int[]> AskAsync(Action meanwhile)
    {
        _meanwhile = meanwhile;
        var asking = _queries.AskAsync(Ann, Wait);
        await StepUntilAsync(asking);
        var (isStale, rows) = await asking;
        Assert.False(isStale);
        return [.. rows.Select(static row => row.TryGetProperty("n", out var n) ? n.GetInt32() : 0)];
    }

    private async Task StepUntilAsync(Task asking)
    {
        while (!asking.IsCompleted)
        {
            lock (_gate)
            {
                _node.Step();
            }

            await Task.Yield();
        }
    }

    // A query that does not wait scans few documents, instead of an index that lags.
    private void PutTooManyToScan()
    {
        for (long i = 1; i <= IndexChooser.FewDocuments; i++)
        {
            _node.Put($"others/{i}", "\"name\":\"bob\"");
        }

        _node.SettleAll();
    }
}
