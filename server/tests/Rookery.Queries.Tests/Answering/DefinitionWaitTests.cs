using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Platform;
using Rookery.Queries.Answering;

namespace Rookery.Queries.Tests.Answering;

/// <summary>Queries that wait for the definition of their automatic index, for example without a leader.</summary>
public sealed class DefinitionWaitTests
{
    private const long MemoryBytes = 64 << 20;

    [Fact]
    public async Task A_query_whose_client_leaves_does_not_wait_for_the_definition_of_its_index()
    {
        using var node = IndexedNode.New();
        node.Put("users/1", "\"name\":\"ann\"");
        node.SettleAll();
        using var leaving = new CancellationTokenSource();
        var definitions = new EndlessDefinitions();
        var engine = new QueryEngine(
            node.Host,
            definitions,
            new MemoryBudget(MemoryBytes).AddShare("queries", MemoryBytes),
            node.Time,
            CancellationToken.None
        );
        using var plan = engine.Plan(
            node.Database(),
            new QueryRequest("from Users where name = 'ann'", "{}"u8.ToArray(), 0, long.MaxValue, TimeSpan.FromHours(1))
        );
        var asking = engine.ExecuteAsync(node.Database(), plan, new LeavingClient(leaving.Token)).AsTask();
        Assert.True(definitions.HasBegun);
        Assert.False(asking.IsCompleted);
        await leaving.CancelAsync();
        var guard = TimeSpan.FromSeconds(30); // longest wait for what must happen
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => asking.WaitAsync(guard));
    }

    private sealed class EndlessDefinitions : IAutomaticIndexes
    {
        public bool HasBegun { get; private set; }

        public bool HaveFailedLately => false;

        public void RecordFailure() { }

        public void RecordUse(Database database, string name) { }

        public Task<Rejection?> DefineAsync(Database database, IAutoDefinition definition)
        {
            HasBegun = true;
            return new TaskCompletionSource<Rejection?>(TaskCreationOptions.RunContinuationsAsynchronously).Task;
        }
    }

    private sealed class LeavingClient(CancellationToken disconnected) : IAnswerSink
    {
        public CancellationToken Disconnected => disconnected;

        public bool TryReserve(long bytes) => true;

        public Task WaitForMemoryAsync(long bytes) => Task.CompletedTask;

        public ValueTask<bool> TryReserveAsync(long bytes, Action stepBack) => new(true);

        public void AbortConnection() => throw new InvalidOperationException("No snapshot ends in this test.");
    }
}
