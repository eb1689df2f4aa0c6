namespace Rookery.Server.Tests.Raven;

/// <summary>
/// Names that .NET and the database compare differently. For the database, σ and ς are two names of indexes, ẞ and ß
/// are one, and only the case of ASCII letters does not count in names of collections.
/// </summary>
public sealed class NameCaseTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Theory]
    [InlineData("from 'Ärzte'", "a1 a2")]
    [InlineData("from 'ärzte'", "b")]
    [InlineData("from 'users'", "c")]
    [InlineData("from 'ärzte' where n > 0", "b")]
    public async Task A_query_reads_and_counts_the_collection_that_the_database_means_by_a_name(
        string query,
        string ids
    )
    {
        var answer = await QueryAsync(await StartAsync(), query);
        Assert.Equal(ids, string.Join(' ', IdsOf(answer)));
        Assert.Equal(ids.Split(' ').Length, answer.Json.GetProperty("TotalResults").GetInt32());
    }

    [Fact]
    public async Task An_index_maps_collections_whose_names_only_look_alike()
    {
        string db = await StartAsync();
        await DefineAsync(db, "Both", "map('Ärzte', d => ({ n: d.n }))", "map('ärzte', d => ({ n: d.n }))");
        Assert.Equal(["a1", "a2", "b"], IdsOf(await QueryAsync(db, "from index 'Both'")));
    }

    [Fact]
    public async Task Statistics_tell_indexes_apart_whose_names_only_look_alike()
    {
        string db = await StartAsync();
        await DefineAsync(db, "Σ", "map('Users', d => ({ n: d.n }))");
        await DefineAsync(db, "ς", "map('Users', d => ({ n: d.n }))");
        await DefineAsync(db, "STRAẞE", "map('Users', d => ({ n: d.n }))");
        foreach (var (asked, name) in ((string, string)[])[("σ", "Σ"), ("ς", "ς"), ("straße", "STRAẞE")])
        {
            var shown = (await server.SendAsync("GET", $"{db}/indexes/stats?name={asked}")).Json.GetProperty("Results");
            Assert.Equal([name], shown.EnumerateArray().Select(index => index.GetProperty("Name").GetString()));
        }
    }

    private static IEnumerable<string?> IdsOf(Answer answer) =>
        answer
            .Json.GetProperty("Results")
            .EnumerateArray()
            .Select(result => result.GetProperty("@metadata").GetProperty("@id").GetString());

    private async Task<string> StartAsync()
    {
        string db = await server.CreateDatabaseAsync();
        foreach (
            var (id, collection) in ((string, string)[])
                [("a1", "Ärzte"), ("a2", "Ärzte"), ("b", "ärzte"), ("c", "USERS")]
        )
        {
            string document = $$"""{"n":1,"@metadata":{"@collection":"{{collection}}"} }""";
            Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/docs?id={id}", document)).Status);
        }

        return db;
    }

    private async Task DefineAsync(string db, string name, params string[] maps) =>
        Assert.Equal(
            201,
            (
                await server.SendAsync(
                    "PUT",
                    db + "/admin/indexes",
                    $$"""{"Indexes":[{"Name":"{{name}}","Maps":["{{string.Join("\",\"", maps)}}"]}]}"""
                )
            ).Status
        );

    private async Task<Answer> QueryAsync(string db, string query)
    {
        var answer = await server.SendAsync(
            "POST",
            db + "/queries",
            $$"""{"Query":"{{query}}","WaitForNonStaleResults":true}"""
        );
        Assert.True(answer.Status == 200, answer.Body);
        return answer;
    }
}
