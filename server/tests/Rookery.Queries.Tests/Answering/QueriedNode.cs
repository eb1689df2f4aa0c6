using System.Text.Json;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Platform;
using Rookery.Queries.Answering;
using Rookery.Simulation;

namespace Rookery.Queries.Tests.Answering;

/// <summary>Queries of a node whose writes and indexing continue while an answer is found and read.</summary>
/// <param name="node">The node.</param>
/// <param name="meanwhile">Called within each query: after its index was chosen, before each document that it
/// evaluates, and before each result.</param>
/// <param name="time">The clock of queries; null for one that stands still, as no query of the test works for
/// long.</param>
/// <param name="memoryBytes">Memory for queries.</param>
internal sealed class QueriedNode(
    IndexedNode node,
    Action meanwhile,
    TimeProvider? time = null,
    long memoryBytes = 64 << 20
)
{
    private readonly QueryEngine _engine = new(
        node.Host,
        new NoDefinitions(),
        new MemoryBudget(memoryBytes).AddShare("queries", memoryBytes),
        time ?? new SimulatedTimeProvider(),
        CancellationToken.None
    );

    /// <summary>Asks a query, and reads the whole answer.</summary>
    /// <param name="query">The query.</param>
    /// <param name="wait">How long it waits for its index; null to accept a stale answer.</param>
    /// <param name="beforeEnd">Called before the answer is released.</param>
    /// <param name="onBasisChosen">Called after each choice of the index; null for the action of this node.</param>
    /// <param name="skipsDuplicateChecking">Whether each matching entry of a static index is a result.</param>
    public async Task<(bool IsStale, JsonElement[] Rows)> AskAsync(
        string query,
        TimeSpan? wait,
        Action<QueryAnswer>? beforeEnd = null,
        Action? onBasisChosen = null,
        bool skipsDuplicateChecking = false
    )
    {
        var database = node.Database();
        var request = new QueryRequest(query, "{}"u8.ToArray(), 0, long.MaxValue, wait)
        {
            SkipsDuplicateChecking = skipsDuplicateChecking,
        };
        using var plan = _engine.Plan(database, request);
        using var answer = await _engine.ExecuteAsync(
            database,
            plan,
            new AnswerSink(meanwhile),
            onBasisChosen: onBasisChosen ?? meanwhile
        );
        Assert.False(answer.IsScan, query);
        var rows = new List<JsonElement>();
        for (meanwhile(); await answer.Results.MoveNextAsync(); meanwhile())
        {
            var written = new ResultBytes();
            answer.Results.Write(written);
            rows.Add(written.ToJson());
        }

        beforeEnd?.Invoke(answer);
        return (answer.IsStale, [.. rows]);
    }

    /// <summary>
    /// Asks a query as a stream does. Returns the total that is announced before the results, and their number.
    /// </summary>
    public async Task<(long Total, int Results)> StreamAsync(string query)
    {
        using var plan = _engine.Plan(
            node.Database(),
            new QueryRequest(query, "{}"u8.ToArray(), 0, long.MaxValue, null)
        );
        using var answer = await _engine.ExecuteAsync(node.Database(), plan, new AnswerSink(meanwhile));
        Assert.False(answer.IsScan, query);
        long total = await answer.CountAheadAsync(correctsTotal: true);
        int results = 0;
        while (await answer.Results.MoveNextAsync())
        {
            results++;
        }

        return (total, results);
    }

    /// <summary>Asks a query that a scan answers. Returns the number of its results.</summary>
    public async Task<int> ScanAsync(string query, TimeSpan? wait)
    {
        using var plan = _engine.Plan(
            node.Database(),
            new QueryRequest(query, "{}"u8.ToArray(), 0, long.MaxValue, wait)
        );
        using var answer = await _engine.ExecuteAsync(node.Database(), plan, new AnswerSink(meanwhile));
        Assert.True(answer.IsScan, query);
        Assert.False(answer.IsStale, query);
        int results = 0;
        while (await answer.Results.MoveNextAsync())
        {
            results++;
        }

        return results;
    }

    /// <summary>Asks a query as the fast path does. Returns whether it was answered without a wait.</summary>
    public async Task<bool> AskAtOnceAsync(string query)
    {
        using var plan = _engine.Plan(
            node.Database(),
            new QueryRequest(query, "{}"u8.ToArray(), 0, long.MaxValue, null)
        );
        using var answer = await _engine.TryExecuteAtOnceAsync(node.Database(), plan, new AnswerSink(meanwhile));
        return answer is not null;
    }

    private sealed class NoDefinitions : IAutomaticIndexes
    {
        public bool HaveFailedLately => true;

        public void RecordFailure() { }

        public void RecordUse(Database database, string name) { }

        public Task<Rejection?> DefineAsync(Database database, IAutoDefinition definition) =>
            throw new InvalidOperationException($"The index {definition.Name} is not defined.");
    }

    private sealed class AnswerSink(Action meanwhile) : IAnswerSink
    {
        public CancellationToken Disconnected => CancellationToken.None;

        public bool TryReserve(long bytes)
        {
            meanwhile();
            return true;
        }

        public Task WaitForMemoryAsync(long bytes) => Task.CompletedTask;

        public ValueTask<bool> TryReserveAsync(long bytes, Action stepBack) => new(true);

        public void AbortConnection() => throw new InvalidOperationException("No snapshot ends in this test.");
    }

    private sealed class ResultBytes : IResultBuffer
    {
        private byte[] _bytes = new byte[1 << 10];

        public int Length { get; private set; }

        public JsonElement ToJson()
        {
            using var json = JsonDocument.Parse(_bytes.AsMemory(0, Length));
            return json.RootElement.Clone();
        }

        public void Write(ReadOnlySpan<byte> bytes)
        {
            bytes.CopyTo(GetSpan(bytes.Length));
            Length += bytes.Length;
        }

        public void Truncate(int length) => Length = length;

        public void Advance(int count) => Length += count;

        public Memory<byte> GetMemory(int sizeHint = 0)
        {
            if (_bytes.Length - Length < Math.Max(1, sizeHint))
            {
                Array.Resize(ref _bytes, 2 * (_bytes.Length + sizeHint));
            }

            return _bytes.AsMemory(Length);
        }

        public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;
    }
}
