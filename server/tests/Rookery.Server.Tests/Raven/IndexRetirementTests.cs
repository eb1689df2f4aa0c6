using System.Diagnostics.CodeAnalysis;
using Rookery.Documents.Databases;
using Rookery.Indexing.Automatic;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>
/// Automatic indexes that the leader deletes because they answered none of its queries for three days, when other
/// members lead or are queried meanwhile.
/// </summary>
[SuppressMessage("Design", "CA1001", Justification = "The server disposes the field.")]
public sealed class IndexRetirementTests : IAsyncLifetime
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly RunningServer _server;
    private OneOfThree _member = null!;
    private Database _database = null!;

    public IndexRetirementTests() =>
        _server = new RunningServer
        {
            Time = _time,
            WrapConsensus = alone => _member = new OneOfThree(alone, static _ => Task.CompletedTask),
        };

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        string db = await _server.CreateDatabaseAsync();
        Assert.True(_server.Node.Databases.TryGet(Path.GetFileName(db), out var database));
        _database = database;
        await DefineAsync();
    }

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task Queries_before_another_member_led_do_not_count()
    {
        await _server.Context.RetireIndexesAsync();
        _member.Leads = false;
        await _server.Context.RetireIndexesAsync();
        _time.Advance(TimeSpan.FromHours(73));
        _member.Leads = true;
        await _server.Context.RetireIndexesAsync();
        Assert.Equal(1, await CountAsync());
        _time.Advance(TimeSpan.FromHours(73));
        await _server.Context.RetireIndexesAsync();
        Assert.Equal(0, await CountAsync());
    }

    [Fact]
    public async Task An_index_that_a_query_at_a_follower_defines_again_is_kept_as_long_as_a_new_one()
    {
        await _server.Context.RetireIndexesAsync();
        _time.Advance(TimeSpan.FromHours(73));
        await _server.Context.RetireIndexesAsync();
        Assert.Equal(0, await CountAsync());
        await DefineAsync();
        await _server.Context.RetireIndexesAsync();
        _time.Advance(TimeSpan.FromHours(71));
        await _server.Context.RetireIndexesAsync();
        Assert.Equal(1, await CountAsync());
    }

    /// <summary>Defines an index as for a query at another member: no use is recorded here.</summary>
    private async Task DefineAsync()
    {
        var definition = new AutoIndexDefinition("Users", [new AutoIndexField(["age"], AutoIndexFieldUses.None)]);
        Assert.Null(await _server.Context.AutomaticIndexes.DefineAsync(_database, definition));
        while (_server.Context.Indexes.ReadAutoIndexes(_database).Count == 0)
        {
            await Task.Delay(10);
        }
    }

    private async Task<int> CountAsync() =>
        (await _server.SendAsync("GET", $"/databases/{_database.Name}/indexes?namesOnly=true"))
            .Json.GetProperty("Results")
            .GetArrayLength();
}
