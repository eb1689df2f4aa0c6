using System.Text.Json;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>A database of users that is large enough for indexes, with helpers for queries.</summary>
public abstract class IndexedDatabase : IAsyncLifetime
{
    /// <summary>Number of users: more than a query scans.</summary>
    protected const int Users = 300;

    protected IndexedDatabase() => Server = new RunningServer { Time = Time };

    protected SimulatedTimeProvider Time { get; } = new();

    protected RunningServer Server { get; }

    /// <summary>Path of the database.</summary>
    protected string Database { get; private set; } = "";

    public async Task InitializeAsync()
    {
        await Server.InitializeAsync();
        Database = await Server.CreateDatabaseAsync();
        var commands = Enumerable
            .Range(0, Users)
            .Select(number =>
                $$$"""{"Id":"users/{{{number}}}","Type":"PUT","Document":{{{DocumentOf(MembersOf(number))}}} }"""
            );
        Assert.Equal(
            201,
            (
                await Server.SendAsync(
                    "POST",
                    Database + "/bulk_docs",
                    $$"""{"Commands":[{{string.Join(',', commands)}}]}"""
                )
            ).Status
        );
    }

    public Task DisposeAsync() => Server.DisposeAsync();

    /// <summary>Returns the members of a user at the start, as JSON.</summary>
    protected abstract string MembersOf(int number);

    /// <summary>Returns the body of a query's request.</summary>
    protected static string Body(string query) => $$"""{"Query":{{JsonSerializer.Serialize(query)}}}""";

    /// <summary>Stores a user with these members, which are JSON.</summary>
    protected async Task PutAsync(int number, string members) =>
        Assert.Equal(
            201,
            (
                await Server.SendAsync(
                    "PUT",
                    FormattableString.Invariant($"{Database}/docs?id=users/{number}"),
                    DocumentOf(members)
                )
            ).Status
        );

    /// <summary>Returns the answer to a query, which must succeed.</summary>
    protected async Task<JsonElement> AskAsync(string query, string parameters = "") =>
        RequireSuccess(await Server.SendAsync("POST", Database + "/queries" + parameters, Body(query)));

    /// <summary>Returns the answer to a GET request, which must succeed.</summary>
    protected async Task<JsonElement> GetAsync(string path) =>
        RequireSuccess(await Server.SendAsync("GET", Database + path));

    /// <summary>Returns the names of the indexes.</summary>
    protected async Task<string[]> NamesAsync() =>
        [
            .. (await GetAsync("/indexes?namesOnly=true"))
                .GetProperty("Results")
                .EnumerateArray()
                .Select(static name => name.GetString()!),
        ];

    /// <summary>Waits until the indexes have caught up.</summary>
    protected async Task WaitAsync()
    {
        while (
            (await GetAsync("/stats"))
                .GetProperty("Indexes")
                .EnumerateArray()
                .Any(static index => index.GetProperty("IsStale").GetBoolean())
        )
        {
            await Task.Delay(20);
        }
    }

    private static string DocumentOf(string members) => $$"""{ {{members}},"@metadata":{"@collection":"Users"} }""";

    private static JsonElement RequireSuccess(Answer answer)
    {
        Assert.True(answer.Status == 200, $"{answer.Status}: {answer.Body}");
        return answer.Json;
    }
}
