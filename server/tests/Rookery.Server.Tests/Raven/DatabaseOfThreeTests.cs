using Rookery.Documents;
using Rookery.Documents.Commands;

namespace Rookery.Server.Tests.Raven;

/// <summary>Databases as a node tells of them that is one of three.</summary>
public sealed class DatabaseOfThreeTests : IAsyncLifetime
{
    private readonly RunningServer server;
    private Func<IConsensus, Task> atBarrier = static _ => Task.CompletedTask;

    public DatabaseOfThreeTests() => server = new RunningServer { Before = alone => new OneOfThree(alone, consensus => atBarrier(consensus)) };

    public Task InitializeAsync() => server.InitializeAsync();

    public Task DisposeAsync() => server.DisposeAsync();

    [Fact]
    public async Task All_members_hold_a_database_and_no_more_replicas_are_promised_than_there_are()
    {
        var created = await server.SendAsync("PUT", "/admin/databases?name=shop&replicationFactor=3", "{}");
        Assert.Equal(201, created.Status);
        Assert.Equal(["A", "B", "C"], created.Json.GetProperty("Topology").GetProperty("Members").EnumerateArray().Select(tag => tag.GetString()));
        Assert.Equal(
            ["http://127.0.0.1:8081", server.Address.ToString().TrimEnd('/'), "http://127.0.0.1:8083"], created.Json.GetProperty("NodesAddedTo").EnumerateArray().Select(url => url.GetString()));
        (await server.SendAsync("PUT", "/admin/databases?name=more&replicationFactor=4", "{}")).IsRefusal(400, "replicationFactor=4 is more than this cluster has nodes, which is 3");
    }

    [Fact]
    public async Task That_there_is_no_database_is_said_behind_the_read_barrier_only()
    {
        atBarrier = async consensus =>
        {
            atBarrier = static _ => Task.CompletedTask;
            Assert.Null((await consensus.ProposeAsync(CommandEncoder.CreateDatabase("late", HistoryId.Create()), CancellationToken.None)).Rejection);
        };
        Assert.Equal(200, (await server.SendAsync("GET", "/admin/databases?name=late")).Status);
        Assert.Equal(404, (await server.SendAsync("GET", "/admin/databases?name=never")).Status);
    }
}
