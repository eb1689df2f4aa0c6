using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Parsing;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;

namespace Rookery.Queries.Tests.Answering;

/// <summary>
/// An answer of an index that is not stale is of one moment: it reads the documents that the index equals.
/// </summary>
public sealed class OneMomentTests : IDisposable
{
    private const string Ann = "from Users where name = 'ann'";
    private static readonly TimeSpan Wait = TimeSpan.FromHours(1);

    private static readonly AutoIndexDefinition ByName = new(
        "Users",
        [new AutoIndexField(["name"], AutoIndexFieldUses.None)]
    );

    private readonly IndexedNode _node = IndexedNode.New(IndexedNode.SmallSteps with { DocumentsPerStep = 1 });
    private readonly QueriedNode _queries;
    private readonly Lock _gate = new();
    private Action? _meanwhile;
    private int _moves;

    public OneMomentTests()
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

    /// <summary>The documents of the index's moment are lost, so the query waits until the index has it.</summary>
    [Fact]
    public async Task A_document_that_moves_after_a_rest_is_found_once()
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
    public async Task An_answer_is_stale_if_no_documents_equal_the_index()
    {
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

    [Fact]
    public async Task A_condition_reads_the_last_acknowledged_compare_exchange_value()
    {
        PutValue("\"ann\"");
        Assert.Single((await _queries.AskAsync("from Users where name = cmpxchg('k')", Wait)).Rows);
    }

    public void Dispose() => _node.Dispose();

    private void PutValue(string json)
    {
        using var parser = DocumentParser.Rent();
        byte[] body = Encoding.UTF8.GetBytes($$"""{"Object":{{json}}}""");
        Assert.True(CompareExchangeValue.TryParse(parser, body, out var value, out var error), error.ToString());
        _node.Run(CommandEncoder.PutCompareExchange(_node.Database().Number, "k"u8, index: 0, value, default));
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

    // The numbers of the documents found.
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
}
