using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Tests.Raven;

/// <summary>The terms of an index's field over HTTP.</summary>
public sealed class IndexTermsTests(RunningServer server) : IClassFixture<RunningServer>
{
    /// <summary>Formerly, an answer had 1,024 terms, as if the index had no more.</summary>
    [Theory]
    [InlineData("", 2_500)]
    [InlineData("&pageSize=", 2_500)]
    [InlineData("&pageSize=2048", 2_048)]
    [InlineData("&pageSize=3000", 2_500)]
    [InlineData("&pageSize=0", 0)]
    [InlineData("&pageSize=2000&fromValue=v1000", 1_499)]
    public async Task Terms_are_listed_up_to_the_size_of_the_page(string parameters, int expected)
    {
        string db = await server.CreateDatabaseAsync();
        string tags = string.Join(',', Enumerable.Range(0, 2_500).Select(static at => $"\"v{at:0000}\""));
        string document = $$$"""{"tags":[{{{tags}}}],"@metadata":{"@collection":"Things"}}""";
        await server.SendAsync("PUT", $"{db}/docs?id=t/1", document);
        const string Definition = """
            {"Indexes":[{"Name":"ByTag","Maps":["from t in docs.Things select new { t.tags }"]}]}
            """;
        await server.SendAsync("PUT", db + "/admin/indexes", Definition);
        const string Query = """{"Query":"from index 'ByTag'","WaitForNonStaleResults":true}""";
        await server.SendAsync("POST", db + "/queries", Query);

        string path = $"{db}/indexes/terms?name=ByTag&field=tags{parameters}";
        using var answer = JsonDocument.Parse((await server.SendAsync("GET", path)).Body);
        var terms = answer.RootElement.GetProperty("Terms").EnumerateArray().Select(static term => term.GetString());
        int first = parameters.Contains("from", StringComparison.Ordinal) ? 1_001 : 0;
        Assert.Equal(Enumerable.Range(first, expected).Select(static at => $"v{at:0000}"), terms);
    }

    /// <summary>
    /// Formerly, the state of the index stayed open, with all its files, until a slow client had read the answer.
    /// </summary>
    [Fact]
    public async Task A_long_page_is_read_before_any_of_it_is_sent()
    {
        const int Terms = 3 * TermsOfDocument;
        string db = await CreateIndexAsync(documents: 3, termLength: 200);
        string path = $"{db}/indexes/terms?name=ByTag&field=tags";
        var answer = await server.SendAsync("GET", path);
        Assert.Equal(Terms, answer.Json.GetProperty("Terms").GetArrayLength());
        Assert.InRange(answer.ContentLength ?? 0, Terms * 200, Terms * 210); // sent as a whole

        using var others = server.Context.LargeRequests.Begin(new DefaultHttpContext());
        Assert.True(others.TryGrow(server.Memory.TotalBytes / 4));
        (await server.SendAsync("GET", path)).IsRefusal(429, "of memory");
    }

    [Fact]
    public async Task A_page_of_more_than_16_MiB_is_refused()
    {
        string db = await CreateIndexAsync(documents: 34, termLength: 512);
        string path = $"{db}/indexes/terms?name=ByTag&field=tags";
        (await server.SendAsync("GET", path)).IsRefusal(400, "terms of 'tags' in the index 'ByTag' are longer");
        var page = await server.SendAsync("GET", path + "&pageSize=30000");
        Assert.Equal(30_000, page.Json.GetProperty("Terms").GetArrayLength());
    }

    private const int TermsOfDocument = 1000;

    /// <summary>Stores documents with different tags, and waits for their index.</summary>
    /// <returns>The prefix of the database's URLs.</returns>
    private async Task<string> CreateIndexAsync(int documents, int termLength)
    {
        string db = await server.CreateDatabaseAsync();
        for (int i = 0; i < documents; i++)
        {
            var tags = Enumerable
                .Range(i * TermsOfDocument, TermsOfDocument)
                .Select(at => $"\"{at.ToString(CultureInfo.InvariantCulture).PadLeft(termLength, 'v')}\"");
            string document = $$$"""{"tags":[{{{string.Join(',', tags)}}}],"@metadata":{"@collection":"Things"}}""";
            Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/docs?id=t/{i}", document)).Status);
        }

        const string Definition = """
            {"Indexes":[{"Name":"ByTag","Maps":["from t in docs.Things select new { t.tags }"]}]}
            """;
        await server.SendAsync("PUT", db + "/admin/indexes", Definition);
        const string Query = """{"Query":"from index 'ByTag'","WaitForNonStaleResults":true}""";
        Assert.Equal(200, (await server.SendAsync("POST", db + "/queries", Query)).Status);
        return db;
    }

    /// <summary>A client continues after the last term of a page, whatever kind of value it is.</summary>
    [Theory]
    [InlineData("Default")]
    [InlineData("Exact")]
    public async Task Paging_through_the_terms_of_a_field_returns_each_once(string indexing)
    {
        string db = await server.CreateDatabaseAsync();
        string[] values =
        [
            "null",
            "true",
            "7",
            "-1.5",
            "10115",
            "\"10115\"",
            "\"10117\"",
            "\"7\"",
            "\"true\"",
            "\"null\"",
            "\"1e5\"",
            "\"a\"",
            "\"a b\"",
            "\"2026-01-02T03:04:05Z\"",
            "{\"b\":1}",
            "\"{\\\"b\\\":1}\"",
            "{\"b\":2}",
            $"\"{new string('x', 600)}\"",
            $"\"{new string('x', 600)}y\"",
            $"\"x{new string('é', 300)}\"",
            $"\"{new string('x', 512)}\"",
        ];
        foreach (var (value, at) in values.Select((value, at) => (value, at)))
        {
            await server.SendAsync(
                "PUT",
                $"{db}/docs?id=t/{at}",
                $$$"""{"v":{{{value}}},"@metadata":{"@collection":"Things"}}"""
            );
        }

        string definition = $$$$"""
            {"Name":"ByV","Maps":["from t in docs.Things select new { t.v }"],
             "Fields":{"v":{"Indexing":"{{{{indexing}}}}"}}}
            """;
        await server.SendAsync("PUT", db + "/admin/indexes", $$"""{"Indexes":[{{definition}}]}""");
        await server.SendAsync(
            "POST",
            db + "/queries",
            """{"Query":"from index 'ByV'","WaitForNonStaleResults":true}"""
        );

        string[] all = await PageAsync(100, "");
        Assert.Equal(all.Distinct(), all);
        // The numbers 7 and 10115, null and true, and one object are listed with the texts that look the same.
        Assert.Equal(values.Length - 5, all.Length);
        var paged = new List<string>();
        for (string[] page = await PageAsync(1, ""); page is [var last]; page = await PageAsync(1, last))
        {
            paged.Add(last);
            Assert.True(paged.Count <= all.Length, $"'{last}' is listed again");
        }

        Assert.Equal(all, paged);

        async Task<string[]> PageAsync(int size, string after)
        {
            string path =
                $"{db}/indexes/terms?name=ByV&field=v&pageSize={size}&fromValue={Uri.EscapeDataString(after)}";
            using var answer = JsonDocument.Parse((await server.SendAsync("GET", path)).Body);
            return
            [
                .. answer.RootElement.GetProperty("Terms").EnumerateArray().Select(static term => term.GetString()!),
            ];
        }
    }
}
