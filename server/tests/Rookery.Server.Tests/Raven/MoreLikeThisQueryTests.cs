using System.Text.Json;
using Rookery.Platform;

namespace Rookery.Server.Tests.Raven;

/// <summary>Queries with moreLikeThis, which find documents with the same words as an example, over HTTP.</summary>
public sealed class MoreLikeThisQueryTests(RunningServer server) : IClassFixture<RunningServer>
{
    // Without these options, words in fewer than five documents or once in a document do not count.
    private const string AnyWords = """{"MinimumTermFrequency":1,"MinimumDocumentFrequency":1}""";

    [Theory]
    [InlineData("moreLikeThis(id() = 'articles/1', $options)", "articles/2,articles/3")]
    [InlineData("moreLikeThis('articles/1', $options)", "articles/2,articles/3")]
    [InlineData("moreLikeThis(name = 'cat', $options)", "articles/2,articles/3")]
    [InlineData("moreLikeThis('{\"text\":\"an orange moon\"}', $options)", "articles/4")]
    [InlineData("moreLikeThis($document, $options)", "articles/4")]
    [InlineData("moreLikeThis(id() = 'articles/1', $options) and name = 'lion'", "articles/2")]
    [InlineData("moreLikeThis(id() = 'articles/1')", "")]
    [InlineData("moreLikeThis(id() = 'articles/4', $options)", "")]
    [InlineData(
        "moreLikeThis(id() = 'articles/1', '{\"minimumTermFrequency\":1,\"minimumDocumentFrequency\":3}')",
        "articles/3,articles/2"
    )]
    [InlineData(
        "moreLikeThis(id() = 'articles/1', "
            + "'{\"MinimumTermFrequency\":1,\"MinimumDocumentFrequency\":1,\"MaximumDocumentFrequency\":2}')",
        "articles/2"
    )]
    [InlineData(
        "moreLikeThis(id() = 'articles/1', "
            + "'{\"MinimumTermFrequency\":1,\"MinimumDocumentFrequency\":1,\"Fields\":[\"name\"]}')",
        ""
    )]
    [InlineData(
        "moreLikeThis(id() = 'articles/1', "
            + "'{\"MinimumTermFrequency\":1,\"MinimumDocumentFrequency\":1,\"MinimumWordLength\":7}')",
        "articles/2"
    )]
    public async Task Documents_with_the_most_significant_words_are_found(string condition, string ids)
    {
        string db = await FillAsync();
        var answer = await server.SendAsync("POST", db + "/queries", BodyOf($"from Articles where {condition}"));
        Assert.True(answer.Status == 200, answer.Body);
        Assert.Equal(ids, IdsOf(answer.Json));
        answer = await server.SendAsync(
            "POST",
            db + "/queries",
            BodyOf($"from Articles where {condition} order by id() desc")
        );
        Assert.Equal(string.Join(',', ids.Split(',').OrderDescending(StringComparer.Ordinal)), IdsOf(answer.Json));
    }

    [Theory]
    [InlineData("moreLikeThis(id() = 'articles/9')", 400, "there is no such document")]
    [InlineData("moreLikeThis('{')", 400, "not a JSON object")]
    [InlineData("moreLikeThis(id() = 'articles/1', '{\"StopWordsDocumentId\":\"stop\"}')", 400, "no document 'stop'")]
    [InlineData("moreLikeThis(id() = 'articles/1', '{\"StopWordsDocumentId\":\"articles/1\"}')", 400, "'StopWords'")]
    [InlineData("moreLikeThis(id() = 'articles/1', '{\"MaximumQueryTerms\":100000}')", 400, "1024")]
    [InlineData("moreLikeThis(id() = 'articles/1', '{\"MaximumTerms\":1}')", 400, "'MaximumTerms' is not an option")]
    [InlineData("moreLikeThis(id() = 'articles/1', '{\"MaximumNumberOfTokensParsed\":1000000000}')", 400, "100000")]
    [InlineData("moreLikeThis(search(text, 'cat'))", 501, "search")]
    public async Task Invalid_arguments_of_moreLikeThis_are_refused(string condition, int status, string named)
    {
        string db = await FillAsync();
        (await server.SendAsync("POST", db + "/queries", BodyOf($"from Articles where {condition}"))).IsRefusal(
            status,
            named
        );
    }

    [Theory]
    [InlineData("moreLikeThis(id() = 'articles/1', $options)", "articles/2,articles/3")]
    [InlineData("moreLikeThis('articles/1', $options)", "articles/2,articles/3")]
    [InlineData("moreLikeThis(title = 'cat', $options)", "articles/2,articles/3")]
    [InlineData("moreLikeThis('{\"words\":\"an orange moon\"}', $options)", "articles/4")]
    [InlineData("moreLikeThis('{\"Body\":[{\"Words\":[\"an orange\",\"moon\"]}]}', $options)", "articles/4")]
    [InlineData("moreLikeThis('{\"words\":[{\"other\":\"moon\"}],\"words.x\":\"moon\"}', $options)", "")]
    [InlineData("moreLikeThis(id() = 'articles/1', $options) and title = 'lion'", "articles/2")]
    [InlineData("not moreLikeThis(id() = 'articles/1', $options)", "articles/1,articles/4")]
    [InlineData("moreLikeThis(id() = 'articles/1')", "")]
    [InlineData(
        "moreLikeThis(id() = 'articles/1', "
            + "'{\"MinimumTermFrequency\":1,\"MinimumDocumentFrequency\":1,\"Fields\":[\"words\"],"
            + "\"MinimumWordLength\":7}')",
        "articles/2"
    )]
    public async Task A_static_index_finds_documents_by_its_own_words(string condition, string ids)
    {
        string db = await FillAsync();
        await DefineAsync(
            db,
            """{"Name":"Words","Maps":["from a in docs.Articles select new { title = a.name, words = a.text }"],"Fields":{"words":{"Indexing":"Search"}}}"""
        );
        var answer = await server.SendAsync("POST", db + "/queries", BodyOf($"from index 'Words' where {condition}"));
        Assert.True(answer.Status == 200, answer.Body);
        Assert.Equal(ids, IdsOf(answer.Json));
        answer = await server.SendAsync(
            "POST",
            db + "/queries",
            BodyOf($"from index 'Words' where {condition} order by id() desc")
        );
        Assert.Equal(string.Join(',', ids.Split(',').OrderDescending(StringComparer.Ordinal)), IdsOf(answer.Json));
    }

    [Fact]
    public async Task An_index_with_a_reduce_finds_similar_rows()
    {
        string db = await FillAsync();
        await DefineAsync(
            db,
            """{"Name":"Texts","Maps":["map('Articles', a => ({ text: a.text, n: 1 }))"],"Reduce":"groupBy(x => x.text).aggregate(g => ({ text: g.key, n: g.values.reduce((n, v) => n + v.n, 0) }))","Fields":{"text":{"Indexing":"Search"}}}"""
        );
        var answer = await server.SendAsync(
            "POST",
            db + "/queries",
            BodyOf("from index 'Texts' where moreLikeThis(text = 'A small animal with whiskers', $options)")
        );
        Assert.True(answer.Status == 200, answer.Body);
        Assert.Equal(
            ["A large animal with whiskers", "An animal"],
            answer
                .Json.GetProperty("Results")
                .EnumerateArray()
                .Select(static row => row.GetProperty("text").GetString()!)
        );
    }

    [Theory]
    [InlineData("moreLikeThis(id() = 'articles/9')", 400, "there is no such document")]
    [InlineData(
        "moreLikeThis(id() = 'articles/1', '{\"Fields\":[\"title\"]}')",
        400,
        "does not hold the words of 'title'"
    )]
    [InlineData("moreLikeThis(id() = 'articles/1', '{\"Fields\":[\"text\"]}')", 400, "has no field 'text'")]
    [InlineData("true filter moreLikeThis(id() = 'articles/1')", 501, "moreLikeThis")]
    public async Task Fields_that_an_index_cannot_compare_are_refused(string condition, int status, string named)
    {
        string db = await FillAsync();
        await DefineAsync(
            db,
            """{"Name":"Words","Maps":["from a in docs.Articles select new { title = a.name, words = a.text }"],"Fields":{"words":{"Indexing":"Search"}}}"""
        );
        (await server.SendAsync("POST", db + "/queries", BodyOf($"from index 'Words' where {condition}"))).IsRefusal(
            status,
            named
        );
        await DefineAsync(db, """{"Name":"Titles","Maps":["from a in docs.Articles select new { title = a.name }"]}""");
        (
            await server.SendAsync(
                "POST",
                db + "/queries",
                BodyOf("from index 'Titles' where moreLikeThis(id() = 'articles/1')")
            )
        ).IsRefusal(400, "holds the words of no field");
    }

    [Fact]
    public async Task A_model_whose_words_need_too_much_memory_is_refused()
    {
        const string Options = """{"MinimumTermFrequency":1,"MaximumNumberOfTokensParsed":100000}""";
        var small = new RunningServer { Memory = new MemoryBudget(16 << 20) };
        await small.InitializeAsync();
        try
        {
            string db = await small.CreateDatabaseAsync();
            foreach (int words in (int[])[10, 60_000])
            {
                string text = string.Join(' ', Enumerable.Range(0, words).Select(static number => $"word{number}"));
                string document = $$"""{"text":"{{text}}","@metadata":{"@collection":"Texts"} }""";
                Assert.Equal(201, (await small.SendAsync("PUT", $"{db}/docs?id=texts/{words}", document)).Status);
            }

            await AssertStatusAsync(200, 10);
            (await QueryAsync(60_000)).IsRefusal(400, "memory");
            await AssertStatusAsync(200, 10);
            Assert.Equal(0, small.Memory.Shares.Single(share => share.Name is "queries").UsedBytes);

            Task<Answer> QueryAsync(int words)
            {
                string query = $"from Texts where moreLikeThis('texts/{words}', '{Options}')";
                return small.SendAsync("POST", db + "/queries", JsonSerializer.Serialize(new { Query = query }));
            }

            async Task AssertStatusAsync(int status, int words)
            {
                var answer = await QueryAsync(words);
                Assert.True(answer.Status == status, answer.Body);
            }
        }
        finally
        {
            await small.DisposeAsync();
        }
    }

    /// <summary>A stream whose total is not known beforehand makes two passes over the documents.</summary>
    [Fact]
    public async Task A_stream_compares_with_the_example_in_each_of_its_passes()
    {
        string db = await FillAsync();
        var answer = await server.SendAsync(
            "POST",
            db + "/streams/queries?format=jsonl",
            BodyOf("from Articles filter moreLikeThis(id() = 'articles/1', $options)")
        );
        Assert.True(answer.Status == 200, answer.Body);
        Assert.Equal(3, answer.Body.Split('\n', StringSplitOptions.RemoveEmptyEntries).Length);
    }

    /// <summary>As RavenDB's and Lucene's MoreLikeThis, by a scan and by an index.</summary>
    [Theory]
    [InlineData("\"MinimumTermFrequency\":2", "notes/3,notes/5")] // owl is in two fields, and found in the second
    [InlineData("\"MinimumTermFrequency\":2,\"Fields\":[\"title\"]", "")]
    [InlineData("\"MinimumTermFrequency\":1,\"Fields\":[\"title\"]", "notes/4,notes/7")]
    [InlineData("\"MinimumTermFrequency\":1,\"MinimumWordLength\":5", "notes/2")] // heron, and not über
    [InlineData("\"MinimumTermFrequency\":1,\"MaximumWordLength\":4", "notes/3,notes/5,notes/7")]
    [InlineData("\"MinimumTermFrequency\":2,\"MaximumDocumentFrequencyPercentage\":43", "notes/3,notes/5")]
    [InlineData("\"MinimumTermFrequency\":2,\"MaximumDocumentFrequencyPercentage\":42", "")]
    [InlineData("\"MinimumTermFrequency\":2,\"MaximumDocumentFrequency\":2", "")]
    [InlineData(
        "\"MinimumTermFrequency\":2,\"MaximumDocumentFrequency\":2,\"MaximumDocumentFrequencyPercentage\":43",
        "notes/3,notes/5"
    )]
    public async Task Words_are_counted_in_all_fields_and_searched_in_the_one_where_they_are_most_frequent(
        string options,
        string ids
    )
    {
        string db = await server.CreateDatabaseAsync();
        string[] notes =
        [
            "\"title\":\"owl über\",\"text\":\"owl heron\"",
            "\"title\":\"heron\"",
            "\"text\":\"owl\"",
            "\"title\":\"owl\"",
            "\"text\":\"owl\"",
            "\"other\":1",
            "\"title\":\"über\"",
        ];
        foreach (var (i, note) in notes.Index())
        {
            string json = $$"""{{{note}},"@metadata":{"@collection":"Notes"} }""";
            Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/docs?id=notes/{i + 1}", json)).Status);
        }

        await DefineAsync(
            db,
            """{"Name":"Words","Maps":["from n in docs.Notes select new { n.title, n.text }"],"Fields":{"title":{"Indexing":"Search"},"text":{"Indexing":"Search"}}}"""
        );
        string condition = $$"""moreLikeThis(id() = 'notes/1', '{"MinimumDocumentFrequency":1,{{options}}}')""";
        foreach (string source in new[] { "Notes", "index 'Words'" })
        {
            string query = JsonSerializer.Serialize(new { Query = $"from {source} where {condition} order by id()" });
            var answer = await server.SendAsync("POST", db + "/queries", query);
            Assert.True(answer.Status == 200, answer.Body);
            Assert.Equal(ids, IdsOf(answer.Json));
        }
    }

    /// <summary>Equal scores are in the order of writing, whatever the average length of each field is.</summary>
    [Fact]
    public async Task Equally_rare_words_in_equally_long_texts_of_different_fields_score_the_same()
    {
        string db = await server.CreateDatabaseAsync();
        string[] posts =
        [
            "\"title\":\"owl\",\"text\":\"heron\"",
            "\"title\":\"owl\",\"text\":\"heron and crane\"",
            "\"title\":\"owl\",\"text\":\"grey crane\"",
            "\"title\":\"the grey\",\"text\":\"heron\"",
            "\"title\":\"two birds\",\"text\":\"robin\"",
        ];
        foreach (var (i, post) in posts.Index())
        {
            string json = $$"""{{{post}},"@metadata":{"@collection":"Posts"} }""";
            Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/docs?id=posts/{i + 1}", json)).Status);
        }

        await DefineAsync(
            db,
            """{"Name":"Words","Maps":["from p in docs.Posts select new { p.title, p.text }"],"Fields":{"title":{"Indexing":"Search"},"text":{"Indexing":"Search"}}}"""
        );
        foreach (string source in (string[])["Posts", "index 'Words'"])
        {
            var answer = await server.SendAsync(
                "POST",
                db + "/queries",
                BodyOf($"from {source} where moreLikeThis(id() = 'posts/1', $options)")
            );
            Assert.True(answer.Status == 200, answer.Body);
            Assert.Equal("posts/2,posts/3,posts/4", IdsOf(answer.Json));
        }
    }

    /// <summary>Clients of different languages write the member in different case.</summary>
    [Theory]
    [InlineData("""{"StopWords":["Whiskers","LARGE",7]}""", "articles/2,articles/3")]
    [InlineData("""{"stopWords":["animal"]}""", "articles/2")]
    [InlineData("""{"StopWords":[]}""", "articles/2,articles/3")]
    public async Task Stop_words_are_not_compared(string stopWords, string ids)
    {
        string db = await FillAsync();
        await DefineAsync(
            db,
            """{"Name":"Words","Maps":["from a in docs.Articles select new { title = a.name, words = a.text }"],"Fields":{"words":{"Indexing":"Search"}}}"""
        );
        await server.SendAsync("PUT", $"{db}/docs?id=Config/StopWords", stopWords);
        const string Options =
            """{"MinimumTermFrequency":1,"MinimumDocumentFrequency":1,"StopWordsDocumentId":"config/stopwords"}""";
        foreach (string source in (string[])["Articles", "index 'Words'"])
        {
            string query = $"from {source} where moreLikeThis('articles/1', '{Options}') order by id()";
            var answer = await server.SendAsync("POST", db + "/queries", BodyOf(query));
            Assert.True(answer.Status == 200, answer.Body);
            Assert.Equal(ids, IdsOf(answer.Json));
        }
    }

    /// <summary>Defines an index, and waits until it has caught up.</summary>
    private async Task DefineAsync(string db, string definition)
    {
        var stored = await server.SendAsync("PUT", db + "/admin/indexes", $$"""{"Indexes":[{{definition}}]}""");
        Assert.True(stored.Status == 201, stored.Body);
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

    private static string IdsOf(JsonElement answer) =>
        string.Join(
            ',',
            answer
                .GetProperty("Results")
                .EnumerateArray()
                .Select(static result => result.GetProperty("@metadata").GetProperty("@id").GetString())
        );

    /// <summary>Returns the body of a query with the parameters $options and $document.</summary>
    private static string BodyOf(string query) =>
        JsonSerializer.Serialize(
            new
            {
                Query = query,
                QueryParameters = new
                {
                    options = JsonSerializer.Deserialize<JsonElement>(AnyWords),
                    document = """{"text":"an orange moon"}""",
                },
            }
        );

    /// <summary>Creates a database with the documents articles/1 to articles/4. Returns its path.</summary>
    private async Task<string> FillAsync()
    {
        string db = await server.CreateDatabaseAsync();
        (string Name, string Text)[] articles =
        [
            ("cat", "A small animal with whiskers"),
            ("lion", "A large animal with whiskers"),
            ("dog", "An animal"),
            ("moon", "The moon is not orange, moon"),
        ];
        foreach (var (i, (name, text)) in articles.Index())
        {
            Assert.Equal(
                201,
                (
                    await server.SendAsync(
                        "PUT",
                        $"{db}/docs?id=articles/{i + 1}",
                        $$"""{"name":"{{name}}","text":"{{text}}","@metadata":{"@collection":"Articles"} }"""
                    )
                ).Status
            );
        }

        return db;
    }
}
