namespace Rookery.Server.Tests.Raven;

/// <summary>Definitions of indexes of all forms, as the server shows them.</summary>
public sealed class IndexDefinitionTests(RunningServer server) : IClassFixture<RunningServer>
{
    /// <summary>
    /// Formerly, a definition differed from itself if the node had not opened the index yet and it was of counters, if
    /// it had options for all fields, and if it was that of an automatic index.
    /// </summary>
    [Fact]
    public async Task A_definition_that_was_read_from_the_server_has_not_changed()
    {
        string database = await server.CreateDatabaseAsync();
        const string User = """{"name":"ann","age":7,"@metadata":{"@collection":"Users"}}""";
        const string AnotherMap = "\"Maps\":[\"from d in docs select new { d.other }\",";
        await server.SendAsync("PUT", database + "/docs?id=users/1", User);
        await server.SendAsync("POST", database + "/queries", """{"Query":"from Users where name = 'ann'"}""");
        await server.SendAsync(
            "POST",
            database + "/queries",
            """{"Query":"from Users group by name select key() as n, count() as c"}"""
        );
        const string Reduce =
            "\"Reduce\":\"from r in results group r by r.name into g "
            + "select new { name = g.Key, c = g.Sum(x => x.c) }\"";
        string[] definitions =
        [
            """{"Name":"js","Maps":["map('Users', u => ({ n: u.name }))"]}""",
            """
                {"Name":"several",
                "Maps":["docs.Users.Select(u => new { u.name })","from d in docs select new { d.name }"]}
                """,
            $$"""{"Name":"reduced","Maps":["from u in docs.Users select new { u.name, c = 1 }"],{{Reduce}} }""",
            """{"Name":"counted","Maps":["from c in counters.Users.likes select new { c.Value, c.Name }"]}""",
            """{"Name":"js counted","Maps":["counters.map('Users','likes', c => ({ v: c.Value }))"]}""",
            $$"""{"Name":"counts","Maps":["counters.Users.Select(c => new { name = c.Name, c = 1 })"],{{Reduce}} }""",
            """
                {"Name":"fields","Maps":["from u in docs.Users select new { u.name, u.age }"],"Fields":{
                "__all_fields":{"Storage":"Yes"},
                "name":{"Analyzer":"StandardAnalyzer","Suggestions":true,"TermVector":"Yes"}} }
                """,
            """
                {"Name":"marked","Maps":["from u in docs.Users select new { u.name }"],
                "Fields":{"name":{"Indexing":"Highlighting"}},"Configuration":{
                "Indexing.Static.SearchEngineType":"Corax","Indexing.Lucene.Analyzers.NGram.MinGram":"2"} }
                """,
            """
                {"Name":"off","Maps":["counters.Users.Select(c => new { c.Value })"],
                "State":"Disabled","LockMode":"LockedIgnore","Priority":"High"}
                """,
        ];
        foreach (string definition in definitions)
        {
            var put = await server.SendAsync("PUT", database + "/admin/indexes", $$"""{"Indexes":[{{definition}}]}""");
            Assert.True(put.Status == 201, put.Body);
        }

        foreach (bool isOpened in new[] { false, true })
        {
            var answer = await server.SendAsync("GET", database + "/indexes");
            var read = answer.Json.GetProperty("Results").EnumerateArray().ToList();
            Assert.Equal(definitions.Length + 2, read.Count);
            foreach (string text in read.Select(static one => one.GetRawText()))
            {
                Assert.False(await HasChangedAsync(text), text);
                Assert.True(
                    await HasChangedAsync(text.Replace("\"Maps\":[", AnotherMap, StringComparison.Ordinal)),
                    text
                );
            }

            while (!isOpened && await IsAnyStaleAsync(database))
            {
                await Task.Delay(20);
            }
        }

        async Task<bool> HasChangedAsync(string definition) =>
            (await server.SendAsync("POST", database + "/indexes/has-changed", definition))
                .Json.GetProperty("Changed")
                .GetBoolean();
    }

    // A disabled index stays stale.
    private async Task<bool> IsAnyStaleAsync(string database) =>
        (await server.SendAsync("GET", database + "/stats"))
            .Json.GetProperty("Indexes")
            .EnumerateArray()
            .Any(static index =>
                index.GetProperty("IsStale").GetBoolean()
                && !string.Equals(index.GetProperty("Name").GetString(), "off", StringComparison.Ordinal)
            );
}
