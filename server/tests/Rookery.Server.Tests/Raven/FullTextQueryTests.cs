using System.Text.Json;

namespace Rookery.Server.Tests.Raven;

/// <summary>Full-text queries over HTTP: results, order and scores.</summary>
public sealed class FullTextQueryTests(RunningServer server) : IClassFixture<RunningServer>
{
    // The articles are those of FillAsync.
    [Theory]
    [InlineData("search(bio, 'fish')", "articles/2,articles/1,articles/3")]
    [InlineData("search(bio, 'fish river')", "articles/4,articles/3,articles/2,articles/1")]
    [InlineData("search(bio, 'fish river', and)", "articles/3")]
    [InlineData("search(bio, 'riv*')", "articles/3,articles/4")]
    [InlineData("search(bio, '\"big fish\"')", "articles/1")]
    [InlineData("search(bio, '*ver')", "articles/3,articles/4")]
    [InlineData("proximity(search(bio, 'big river'), 4)", "articles/3")]
    [InlineData("fuzzy(name = 'Anna', 0.6)", "articles/1")]
    [InlineData("boost(name = 'Cid', 5) or search(bio, 'fish')", "articles/3,articles/2,articles/1")]
    [InlineData("search(bio, 'fish') and year > 2001", "articles/2,articles/3")]
    [InlineData("intersect(search(bio, 'fish'), name = 'ann')", "articles/1")]
    [InlineData("not search(bio, 'fish')", "articles/4")]
    [InlineData("search(bio, 'the')", "")]
    [InlineData("search(bio, '')", "")]
    [InlineData("lucene(name, 'a* OR bob')", "articles/2,articles/1")]
    [InlineData("lucene(bio, 'big AND fish')", "articles/1,articles/3")]
    [InlineData("lucene(bio, 'fish -big')", "articles/2")]
    [InlineData("lucene(bio, 'fish^0.01 riv*')", "articles/3,articles/4,articles/2,articles/1")]
    [InlineData("regex(name, '^[ab]')", "articles/1,articles/2")]
    [InlineData("exact(name = 'Ann')", "articles/1")]
    public async Task The_most_relevant_documents_come_first(string condition, string ids)
    {
        string db = await FillAsync();
        var answer = await QueryAsync(db, $"from Articles where {condition}");
        Assert.Equal(ids, string.Join(',', ResultsOf(answer).Select(IdOf)));
        Assert.Equal(ids.Length == 0 ? 0 : ids.Split(',').Length, answer.GetProperty("TotalResults").GetInt32());
        string[] lines = (
            await server.SendAsync(
                "POST",
                db + "/streams/queries?format=jsonl",
                BodyOf($"from Articles where {condition}")
            )
        ).Body.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(
            ids,
            string.Join(
                ',',
                lines.Skip(1).Select(line => IdOf(JsonDocument.Parse(line).RootElement.GetProperty("Item")))
            )
        );
    }

    [Fact]
    public async Task Scores_are_shown_and_order_the_results()
    {
        string db = await FillAsync();
        double[] scores =
        [
            .. ResultsOf(await QueryAsync(db, "from Articles where search(bio, 'fish')")).Select(ScoreOf),
        ];
        Assert.Equal(3, scores.Length);
        Assert.Equal(scores.OrderDescending(), scores);
        Assert.All(scores, static score => Assert.True(score > 0, $"a score is positive, not {score}"));

        var worst = ResultsOf(
            await QueryAsync(
                db,
                "from Articles where search(bio, 'fish') order by score() asc select id() as i, score() as s limit 1"
            )
        );
        Assert.Equal(scores[^1], Assert.Single(worst).GetProperty("s").GetDouble());

        Assert.Equal(
            ["articles/1", "articles/2", "articles/3"],
            ResultsOf(await QueryAsync(db, "from Articles where search(bio, 'fish') order by name")).Select(IdOf)
        );
        Assert.Equal(
            ["articles/2"],
            ResultsOf(await QueryAsync(db, "from Articles where search(bio, 'fish') limit 1")).Select(IdOf)
        );
    }

    /// <summary>
    /// The rarity of a word is counted in the collection, not among the ids that a query names. Each other condition
    /// adds 1.
    /// </summary>
    [Fact]
    public async Task A_condition_on_ids_adds_1_and_does_not_change_the_rarity_of_words()
    {
        string db = await FillAsync();
        double all = ScoreOf(ResultsOf(await QueryAsync(db, "from Articles where search(bio, 'fish')"))[1]);
        Assert.Equal(
            all + 1,
            ScoreOf(
                Assert.Single(
                    ResultsOf(await QueryAsync(db, "from Articles where id() = 'articles/1' and search(bio, 'fish')"))
                )
            ),
            1e-12
        );
    }

    [Theory]
    [InlineData("from Articles where search(bio, $words)", "4096 bytes")]
    [InlineData("from Articles where search(bio, $stars)", "64 patterns")]
    [InlineData("from Articles where search(bio, $phrase)", "64 words in a phrase")]
    [InlineData("from Articles where fuzzy(name = $long, 0.5)", "512 characters")]
    [InlineData("from Articles where regex(name, $long)", "1000 characters")]
    public async Task Hostile_searches_are_refused(string query, string named)
    {
        string db = await FillAsync();
        var parameters = new Dictionary<string, string>(StringComparer.Ordinal)
        {
            ["words"] = string.Join(' ', Enumerable.Range(0, 10_000)),
            ["stars"] = string.Join(' ', Enumerable.Repeat("*a*", 65)),
            ["phrase"] = "\"" + string.Join(' ', Enumerable.Range(0, 65)) + "\"",
            ["long"] = new string('x', 2000),
        };
        (
            await server.SendAsync(
                "POST",
                db + "/queries",
                JsonSerializer.Serialize(new { Query = query, QueryParameters = parameters })
            )
        ).IsRefusal(400, named);
    }

    [Theory]
    [InlineData("from Articles where spatial.within(a, spatial.circle(1, 2, 3))", "spatial.within", "column 21")]
    [InlineData("from Articles where vector.search(a, $v)", "vector.search", "column 21")]
    [InlineData("from Articles select timeseries(from HeartRate)", "timeseries", "column 22")]
    public async Task Unsupported_clauses_are_refused_with_their_position(string query, string clause, string place)
    {
        string db = await FillAsync();
        var refused = await server.SendAsync("POST", db + "/queries", BodyOf(query));
        refused.IsRefusal(501, clause);
        refused.IsRefusal(501, place);
    }

    [Fact]
    public async Task A_scan_and_an_index_score_alike_beside_archived_documents()
    {
        string db = await FillAsync();
        const string Archived =
            """{"name":"Eve","bio":"A fish","@metadata":{"@collection":"Articles","@archived":true} }""";
        Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/docs?id=articles/5", Archived)).Status);
        var indexed = await QueryAsync(db, "from Articles where search(bio, 'fish') order by score()");
        Assert.False(indexed.TryGetProperty("IsScan", out _));
        var scores = ResultsOf(indexed).ToDictionary(IdOf, ScoreOf, StringComparer.Ordinal);
        var scanned = await QueryAsync(db, "from Articles where search(bio, 'fish') order by name select score() as s");
        Assert.True(scanned.GetProperty("IsScan").GetBoolean());
        Assert.Equal(3, ResultsOf(scanned).Length);
        foreach (var result in ResultsOf(scanned))
        {
            Assert.Equal(scores[IdOf(result)], ScoreOf(result), precision: 9);
        }
    }

    private static JsonElement[] ResultsOf(JsonElement answer) => [.. answer.GetProperty("Results").EnumerateArray()];

    private static string IdOf(JsonElement result) => result.GetProperty("@metadata").GetProperty("@id").GetString()!;

    [Theory]
    [InlineData("lucene(words, 'big AND fish')", "articles/1,articles/3")]
    [InlineData("lucene(words, 'fish AND title:ann')", "articles/1")]
    [InlineData("lucene(title, 'bob words:river')", "articles/2,articles/3,articles/4")]
    [InlineData("lucene(title, 'CI* OR a?n')", "articles/1,articles/3")]
    [InlineData("lucene(title, 'ci')", "")]
    [InlineData("lucene(year, '2002')", "articles/2")]
    [InlineData("exact(lucene(title, 'ann OR Bob'))", "articles/2")]
    public async Task A_Lucene_clause_uses_the_analyzers_of_a_static_indexs_fields(string condition, string ids)
    {
        string db = await FillAsync();
        await DefineIndexAsync(db);
        var answer = await QueryAsync(db, $"from index 'Articles' where {condition} order by id()");
        Assert.Equal(ids, string.Join(',', ResultsOf(answer).Select(IdOf)));
        Assert.Equal(
            ids.Split(',').Order(StringComparer.Ordinal),
            ResultsOf(await QueryAsync(db, $"from index 'Articles' where {condition}"))
                .Select(IdOf)
                .DefaultIfEmpty("")
                .Order(StringComparer.Ordinal)
        );
    }

    [Theory]
    [InlineData("from index 'Articles' where lucene(title, 'bio:x')", 400, "has no field 'bio'")]
    [InlineData("from index 'Articles' filter lucene(name, 'ann')", 501, "lucene")]
    [InlineData("from Articles where lucene(name, 'bio:x')", 501, "'bio:'")]
    public async Task An_unsupported_Lucene_clause_is_refused(string query, int status, string named)
    {
        string db = await FillAsync();
        await DefineIndexAsync(db);
        (await server.SendAsync("POST", db + "/queries", BodyOf(query))).IsRefusal(status, named);
    }

    // Defines a static index, and waits until it is built.
    private async Task DefineIndexAsync(string db)
    {
        const string Index =
            """{"Indexes":[{"Name":"Articles","Maps":["from a in docs.Articles select new { title = a.name, words = a.bio, a.year }"],"Fields":{"words":{"Indexing":"Search"}}}]}""";
        Assert.Equal(201, (await server.SendAsync("PUT", db + "/admin/indexes", Index)).Status);
        while (
            (await server.SendAsync("GET", db + "/stats"))
                .Json.GetProperty("Indexes")
                .EnumerateArray()
                .Any(static index => index.GetProperty("IsStale").GetBoolean())
        )
        {
            await Task.Delay(20);
        }
    }

    private static double ScoreOf(JsonElement result) =>
        result.GetProperty("@metadata").GetProperty("@index-score").GetDouble();

    private static string BodyOf(string query) => JsonSerializer.Serialize(new { Query = query });

    private async Task<JsonElement> QueryAsync(string db, string query)
    {
        var answer = await server.SendAsync("POST", db + "/queries", BodyOf(query));
        Assert.True(answer.Status == 200, answer.Body);
        return answer.Json;
    }

    private async Task<string> FillAsync()
    {
        string db = await server.CreateDatabaseAsync();
        (string Name, string Bio)[] articles =
        [
            ("Ann", "A big fish is in the sea"),
            ("Bob", "Fish and fish"),
            ("Cid", "One fish swims up the big and rather wide river"),
            ("Dora", "A river"),
        ];
        foreach (var (i, (name, bio)) in articles.Index())
        {
            string json =
                $$"""{"name":"{{name}}","bio":"{{bio}}","year":{{2001 + i}},"@metadata":{"@collection":"Articles"} }""";
            Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/docs?id=articles/{i + 1}", json)).Status);
        }

        return db;
    }
}
