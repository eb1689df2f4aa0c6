using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;

namespace Rookery.Server.Tests.Raven;

/// <summary>Databases as a node tells of them that is one of three.</summary>
public sealed class DatabaseOfThreeTests : IAsyncLifetime
{
    private readonly RunningServer _server;
    private Func<IConsensus, Task> _atBarrier = static _ => Task.CompletedTask;

    public DatabaseOfThreeTests() =>
        _server = new RunningServer { Before = alone => new OneOfThree(alone, consensus => _atBarrier(consensus)) };

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task All_members_hold_a_database_and_no_more_replicas_are_promised_than_there_are()
    {
        var created = await _server.SendAsync("PUT", "/admin/databases?name=shop&replicationFactor=3", "{}");
        Assert.Equal(201, created.Status);
        Assert.Equal(
            ["A", "B", "C"],
            created.Json.GetProperty("Topology").GetProperty("Members").EnumerateArray().Select(tag => tag.GetString())
        );
        Assert.Equal(
            ["http://127.0.0.1:8081", _server.Address.ToString().TrimEnd('/'), "http://127.0.0.1:8083"],
            created.Json.GetProperty("NodesAddedTo").EnumerateArray().Select(url => url.GetString())
        );
        (await _server.SendAsync("PUT", "/admin/databases?name=more&replicationFactor=4", "{}")).IsRefusal(
            400,
            "replicationFactor=4 is more than this cluster has nodes, which is 3"
        );
    }

    [Fact]
    public async Task Which_databases_there_are_is_said_behind_the_read_barrier_unless_what_is_here_will_do()
    {
        _atBarrier = async consensus =>
        {
            _atBarrier = static _ => Task.CompletedTask;
            Assert.Null(
                (
                    await consensus.ProposeAsync(
                        CommandEncoder.CreateDatabase("late", HistoryId.Create()),
                        CancellationToken.None
                    )
                ).Rejection
            );
        };
        var listed = await _server.SendAsync("GET", "/databases?namesOnly=true");
        Assert.Equal(["late"], listed.Json.GetProperty("Databases").EnumerateArray().Select(name => name.GetString()));

        _atBarrier = static _ => throw new InvalidOperationException("Nobody waits for the barrier.");
        Assert.Equal(200, (await _server.SendAsync("GET", "/databases?consistency=local")).Status);
    }

    [Fact]
    public async Task A_node_that_cannot_say_what_is_newest_says_what_has_to_be_there_and_what_it_has_to_give()
    {
        Assert.Equal(201, (await _server.SendAsync("PUT", "/admin/databases?name=shop", "{}")).Status);
        ((OneOfThree)_server.Node.Consensus).Refuses = new Rejection(RejectionKind.NoLeader, "Nobody leads.");
        const string why =
            "This node cannot say now what is newest: for that a majority of the voters has to be reachable "
            + "from it. Try again in a second, or another node; `rookery status` says what is missing.";
        foreach (string read in (string[])["/databases/shop/docs?id=a", "/databases"])
        {
            (await _server.SendAsync("GET", read)).IsRefusal(
                503,
                $"{why} With consistency=local it answers what it has, which may be older."
            );

            // A person at the page can write no such thing.
            var told = await _server.SendAsync("GET", read, (string?)null, ("Rookery-Request", "dashboard"));
            Assert.Equal(
                $"{why} The page of this node shows what it has meanwhile, which may be older.",
                told.Json.GetProperty("Message").GetString()
            );
        }

        // Whether there is one, what it has does not say.
        Assert.Equal(
            why,
            (await _server.SendAsync("GET", "/databases/none/docs?id=a&consistency=local"))
                .Json.GetProperty("Message")
                .GetString()
        );
    }

    [Fact]
    public async Task Nor_that_there_is_not_one_of_a_name()
    {
        _atBarrier = async consensus =>
        {
            _atBarrier = static _ => Task.CompletedTask;
            Assert.Null(
                (
                    await consensus.ProposeAsync(
                        CommandEncoder.CreateDatabase("late", HistoryId.Create()),
                        CancellationToken.None
                    )
                ).Rejection
            );
        };
        Assert.Equal(200, (await _server.SendAsync("GET", "/admin/databases?name=late")).Status);
        Assert.Equal(404, (await _server.SendAsync("GET", "/admin/databases?name=never")).Status);
    }
}
