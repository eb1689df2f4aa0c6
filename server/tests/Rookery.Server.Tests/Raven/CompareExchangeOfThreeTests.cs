using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Parsing;

namespace Rookery.Server.Tests.Raven;

/// <summary>cmpxchg on a node that is one of three and has not applied what the leader has.</summary>
public sealed class CompareExchangeOfThreeTests : IAsyncLifetime
{
    private readonly RunningServer _server;
    private Action _endWaitingReads = static () => { };
    private Func<IConsensus, Task> _atBarrier = static _ => Task.CompletedTask;

    public CompareExchangeOfThreeTests() =>
        _server = new RunningServer
        {
            WrapConsensus = alone =>
            {
                var member = new OneOfThree(alone, consensus => _atBarrier(consensus));
                _endWaitingReads = member.EndWaitingReads;
                return member;
            },
        };

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task A_mismatch_is_answered_with_the_value_after_the_read_barrier()
    {
        string db = await _server.CreateDatabaseAsync();
        Assert.True(_server.Node.Databases.TryGet(db.Split('/')[^1], out var database));
        // The key does not exist here until the read barrier after the mismatch.
        _atBarrier = async consensus =>
        {
            _atBarrier = static _ => Task.CompletedTask;
            Assert.Null((await consensus.ProposeAsync(EncodePutOfOther(database), CancellationToken.None)).Rejection);
        };
        var refused = await _server.SendAsync("PUT", $"{db}/cmpxchg?key=lock&index=5", """{"Object":"mine"}""");
        Assert.False(refused.Json.GetProperty("Successful").GetBoolean());
        Assert.Equal("theirs", refused.Json.GetProperty("Value").GetProperty("Object").GetString());
    }

    [Fact]
    public async Task A_mismatch_whose_value_cannot_be_read_now_is_an_error_instead_of_no_value()
    {
        string db = await _server.CreateDatabaseAsync();
        // A barrier that never completes, whose waiting reads are ended.
        var noBarrier = new TaskCompletionSource();
        _atBarrier = _ => noBarrier.Task;
        _endWaitingReads();
        var answer = await _server.SendAsync("PUT", $"{db}/cmpxchg?key=lock&index=5", """{"Object":"mine"}""");
        answer.IsRefusal(503, "cannot confirm the latest state");
    }

    /// <summary>Encodes a command that creates the key "lock" with the value "theirs".</summary>
    private static CommandBuffer EncodePutOfOther(Database database) =>
        CommandEncoder.PutCompareExchange(
            database.Number,
            "lock"u8,
            index: 0,
            new ParsedDocument { BodyHead = "\"Object\":\"theirs\""u8 },
            requestKey: default
        );
}
