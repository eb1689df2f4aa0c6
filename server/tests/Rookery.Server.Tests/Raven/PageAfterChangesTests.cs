using System.Text.Json;

namespace Rookery.Server.Tests.Raven;

/// <summary>
/// An index may still find documents that were deleted or no longer match. Their absence must not make a page shorter,
/// because clients read pages until one is shorter than requested.
/// </summary>
public sealed class PageAfterChangesTests : IndexedDatabase
{
    [Theory]
    [InlineData("from index 'Ages' where age >= 0")]
    [InlineData("from index 'Ages' where age >= 0 order by age as long desc")]
    [InlineData("from index 'Ages' where age >= 0 order by age")]
    [InlineData("from index 'Ages' where boost(age >= 0, 2)")]
    [InlineData("from index 'Ages' where age >= 0 select age")]
    [InlineData("from Users where age >= 0")]
    [InlineData("from Users where age >= 0 order by age desc")]
    public async Task A_page_is_full_although_the_index_found_deleted_and_changed_documents(string query)
    {
        const int Deleted = 40,
            Changed = 5,
            Page = 10;
        await Server.SendAsync(
            "PUT",
            Database + "/admin/indexes",
            """
            {"Indexes":[{"Name":"Ages","Maps":["from u in docs.Users select new { u.age }"],
            "Fields":{"age":{"Storage":"Yes"}}}]}
            """
        );
        await WaitAsync();
        // The first time, the query may define an automatic index, which the second wait completes.
        string[] all = IdsOf(await AskAsync(query));
        await WaitAsync();
        Assert.Equal(204, (await Server.SendAsync("POST", Database + "/admin/indexes/stop")).Status);
        // Of the first 45 results, 40 are deleted and five no longer match, while indexing is paused.
        var commands = all[..Deleted]
            .Select(static id => $$"""{"Id":"{{id}}","Type":"DELETE"}""")
            .Concat(
                all[Deleted..(Deleted + Changed)]
                    .Select(static id =>
                        $$$"""{"Id":"{{{id}}}","Type":"PUT","Document":{"@metadata":{"@collection":"Users"},"age":-1}}"""
                    )
            );
        string batch = $$"""{"Commands":[{{string.Join(',', commands)}}]}""";
        Assert.Equal(201, (await Server.SendAsync("POST", Database + "/bulk_docs", batch)).Status);
        var answer = await AskAsync(query + $" limit {Page}");
        Assert.Equal(all[(Deleted + Changed)..(Deleted + Changed + Page)], IdsOf(answer));
        Assert.Equal(Users, answer.GetProperty("TotalResults").GetInt32()); // an offset counts what the index found
        Assert.Equal(Deleted + Changed, answer.GetProperty("SkippedResults").GetInt32());

        // The next page begins after them, as RavenDB's clients compute it.
        var next = await AskAsync(query + $" limit {Page + Deleted + Changed}, {Page}");
        Assert.Equal(all[(Deleted + Changed + Page)..(Deleted + Changed + (2 * Page))], IdsOf(next));
        Assert.Equal(0, next.GetProperty("SkippedResults").GetInt32());

        // A client that reads pages up to the total gets every result.
        var read = new List<string>();
        for (int start = 0, total = int.MaxValue; start < total; )
        {
            var page = await AskAsync(query + $" limit {start}, {Page}");
            read.AddRange(IdsOf(page));
            start += Page + page.GetProperty("SkippedResults").GetInt32();
            total = page.GetProperty("TotalResults").GetInt32();
        }

        Assert.Equal(all[(Deleted + Changed)..], read);
    }

    /// <summary>
    /// A stream counts its results before it writes them. From 16,384 results on, each further search keeps only new
    /// ones.
    /// </summary>
    [Theory]
    [InlineData("from Users where age >= 0")]
    [InlineData("from Users where age >= 0 order by age as long desc")]
    public async Task A_stream_of_many_results_is_complete_although_one_of_them_was_deleted(string query)
    {
        const int Page = 16 * 1024,
            Batches = 4,
            BatchUsers = 4096;
        for (int batch = 0; batch < Batches; batch++)
        {
            var commands = Enumerable
                .Range(Users + (batch * BatchUsers), BatchUsers)
                .Select(number =>
                    $$$"""{"Id":"users/{{{number}}}","Type":"PUT","Document":{ {{{MembersOf(number)}}},"@metadata":{"@collection":"Users"} } }"""
                );
            string body = $$"""{"Commands":[{{string.Join(',', commands)}}]}""";
            Assert.Equal(201, (await Server.SendAsync("POST", Database + "/bulk_docs", body)).Status);
        }

        string first = IdsOf(await AskAsync(query + " limit 1"))[0];
        await WaitAsync();
        Assert.Equal(204, (await Server.SendAsync("POST", Database + "/admin/indexes/stop")).Status);
        Assert.Equal(204, (await Server.SendAsync("DELETE", $"{Database}/docs?id={first}")).Status);
        var answer = await Server.SendAsync(
            "POST",
            Database + "/streams/queries?format=jsonl",
            Body($"{query} limit {Page}")
        );
        string[] lines = answer.Body.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        using var statistics = JsonDocument.Parse(lines[0]);
        Assert.Equal(
            Users + (Batches * BatchUsers) - 1,
            statistics.RootElement.GetProperty("Stats").GetProperty("TotalResults").GetInt32()
        );
        Assert.Equal(Page, lines.Skip(1).Distinct(StringComparer.Ordinal).Count());
        Assert.DoesNotContain(lines, line => line.Contains($"\"{first}\"", StringComparison.Ordinal));
    }

    protected override string MembersOf(int number) => FormattableString.Invariant($"\"age\":{number % 50}");

    private static string[] IdsOf(JsonElement answer) =>
        [
            .. answer
                .GetProperty("Results")
                .EnumerateArray()
                .Select(static result => result.GetProperty("@metadata").GetProperty("@id").GetString()!),
        ];
}
