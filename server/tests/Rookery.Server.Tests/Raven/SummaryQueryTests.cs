using System.Text.Json;
using Rookery.Platform;

namespace Rookery.Server.Tests.Raven;

/// <summary>Facets and suggestions over HTTP.</summary>
public sealed class SummaryQueryTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Theory]
    [InlineData("facet(brand)", "brand: acme 3, zoom 2")]
    [InlineData("facet(brand, '{\"TermSortMode\":\"ValueDesc\"}')", "brand: zoom 2, acme 3")]
    [InlineData("facet(brand, '{\"termSortMode\":\"CountAsc\"}')", "brand: zoom 2, acme 3")]
    [InlineData("facet(brand, '{\"TermSortMode\":\"CountDesc\",\"PageSize\":1}')", "brand: acme 3 +1/2")]
    [InlineData("facet(brand, '{\"Start\":1,\"IncludeRemainingTerms\":true}')", "brand: zoom 2")]
    [InlineData("facet(brand, '{\"PageSize\":1,\"IncludeRemainingTerms\":true}')", "brand: acme 3 +1/2 zoom")]
    [InlineData("facet(brand, '{\"Start\":1,\"PageSize\":9223372036854775807}')", "brand: zoom 2")]
    [InlineData("facet(brand, sum(price))", "brand: acme 3 price sum=60, zoom 2 price sum=9.5")]
    [InlineData(
        "facet(brand, sum(price), avg(price) as p, min(stock))",
        "brand: acme 3 price sum=60, acme 3 p average=20, acme 3 stock min=1, zoom 2 price sum=9.5, zoom 2 p "
            + "average=4.75, zoom 2 stock min=4"
    )]
    [InlineData(
        "facet(brand, min(price), max(price)) as b",
        "b: acme 3 price min=10 max=30, zoom 2 price min=4.5 max=5"
    )]
    [InlineData(
        "facet(price < 10, price >= 10 and price < 25, price between 25 and 100)",
        "price: price < 10 2, price >= 10 and price < 25 2, price between 25 and 100 1"
    )]
    [InlineData("facet(price < $ten) as Cheap", "Cheap: price < 10 2")]
    [InlineData(
        "facet(sum(price), '{\"PageSize\":1}', min(price))",
        "@AllResults: @AllResults 5 price sum=69.5 min=4.5"
    )]
    [InlineData("facet(sum(price))", "@AllResults: @AllResults 5 price sum=69.5")]
    [InlineData("facet(tags)", "tags: a 2, b 1")]
    [InlineData("facet(odd)", "odd: 7 1, EMPTY_STRING 1, NULL_VALUE 1, false 1")]
    [InlineData("facet(brand), facet(price > 20)", "brand: acme 3, zoom 2; price: price > 20 1")]
    [InlineData(
        "facet(id('facets/cameras'))",
        "Brand: acme 3 price sum=60, zoom 2 price sum=9.5; price: price < 10 2, price >= 10 3"
    )]
    public async Task Facets_count_by_value_and_by_range(string selection, string expected)
    {
        string db = await FillAsync();
        Assert.Equal(expected, DescribeFacets(await QueryAsync(db, $"from Cameras select {selection}")));
    }

    [Theory]
    [InlineData("where price > 9 select facet(brand)", "brand: acme 3")]
    [InlineData("where search(text, 'night') select facet(brand)", "brand: acme 1, zoom 1")]
    [InlineData("where brand = 'nobody' select facet(brand), facet(price > 1)", "brand:; price: price > 1 0")]
    public async Task Facets_count_only_the_results_of_the_query(string clauses, string expected)
    {
        string db = await FillAsync();
        Assert.Equal(expected, DescribeFacets(await QueryAsync(db, $"from Cameras {clauses}")));
    }

    /// <summary>As in RavenDB's Lucene engine: 10 comes before 7.</summary>
    [Fact]
    public async Task The_values_of_a_facet_are_ordered_by_their_names()
    {
        string db = await FillAsync();
        Assert.Equal(
            "price: 10 1, 20 1, 30 1, 4.5 1, 5 1",
            DescribeFacets(await QueryAsync(db, "from Cameras select facet(price)"))
        );
        Assert.Equal(
            "price: 20 1, 30 1 +2/2",
            DescribeFacets(await QueryAsync(db, "from Cameras select facet(price, '{\"Start\":1,\"PageSize\":2}')"))
        );
    }

    [Theory]
    [InlineData("from Cameras select facet(maker) include maker", "makers/1,makers/2")]
    [InlineData("from Cameras as c select facet(c.maker) include c.maker, none", "makers/1,makers/2")]
    [InlineData("from Cameras select facet(maker, '{\"PageSize\":1}') include maker", "makers/1")]
    [InlineData("from Cameras select facet(by.ids[]) include by.ids", "makers/1")]
    [InlineData("from Cameras select facet(brand) include maker", "")]
    [InlineData("from Cameras select facet(price > 1) include maker", "")]
    public async Task Documents_whose_ids_are_values_of_a_facet_are_included(string query, string ids)
    {
        string db = await FillAsync();
        foreach (string id in (string[])["makers/1", "makers/2"])
        {
            await server.SendAsync("PUT", $"{db}/docs?id={id}", "{}");
        }

        foreach (int i in (int[])[1, 2])
        {
            string camera =
                $$"""{"brand":"Acme","price":5,"maker":"Makers/{{i}}","by":{"ids":["makers/1"]},"@metadata":{"@collection":"Cameras"} }""";
            await server.SendAsync("PUT", $"{db}/docs?id=cameras/{i}", camera);
        }

        var included = (await QueryAsync(db, query)).GetProperty("Includes");
        Assert.Equal(ids, string.Join(',', included.EnumerateObject().Select(static document => document.Name)));
    }

    [Theory]
    [InlineData("from Cameras order by price select facet(brand)", "brand: acme 3, zoom 2")]
    [InlineData("from Cameras select facet(brand) include maker", "brand: acme 3, zoom 2")]
    [InlineData("from index 'ByBrand' order by price as long select facet(brand)", "brand: acme 3, zoom 2")]
    [InlineData(
        "from index 'ByBrand' select facet(brand, sum(price), sum(none))",
        "brand: acme 3 price sum=60, acme 3 none sum=0, zoom 2 price sum=9.5, zoom 2 none sum=0"
    )]
    public async Task Facets_ignore_the_order_includes_and_fields_without_numbers(string query, string expected)
    {
        string db = await FillAsync();
        await DefineIndexAsync(db);
        Assert.Equal(expected, DescribeFacets(await QueryAsync(db, query)));
    }

    /// <summary>The terms of a field that is not analysed are its values.</summary>
    [Theory]
    [InlineData("suggest(text, 'light camra')", "text: light camera")]
    [InlineData("suggest(text, 'LIGHT CAMRA')", "text: light camera")]
    [InlineData("suggest(text, 'camra')", "text: a camera")]
    [InlineData("suggest(words, 'camra')", "words: camera")]
    [InlineData("suggest(hinted, 'light camra')", "hinted: light camera")]
    [InlineData("suggest(text, '')", "text: ")]
    [InlineData("suggest(words, '\u0301')", "words: ")]
    public async Task Suggestions_of_a_field_without_words_are_whole_values(string selection, string expected)
    {
        string db = await FillAsync();
        await DefineIndexAsync(db);
        var results = (await QueryAsync(db, $"from index 'ByBrand' select {selection}")).GetProperty("Results");
        Assert.Equal(
            expected,
            $"{results[0].GetProperty("Name").GetString()}: "
                + string.Join(
                    ',',
                    results[0].GetProperty("Suggestions").EnumerateArray().Select(suggestion => suggestion.GetString())
                )
        );
        (
            await server.SendAsync("POST", db + "/queries", BodyOf("from index 'ByBrand' select suggest(none, 'x')"))
        ).IsRefusal(400, "has no field 'none'");
    }

    [Fact]
    public async Task A_dot_in_the_name_of_an_index_field_leads_to_no_member()
    {
        string db = await FillAsync();
        await DefineAsync(
            db,
            """{"Name":"Dotted","Maps":["map('Cameras', c => ({ 'a.b': c.brand, c: { d: 1 } }))"]}"""
        );
        const string From = "from index 'Dotted' select ";
        Assert.Equal("zoom", await SuggestAsync(db, From + "suggest('a.b', 'zom')"));
        Assert.Equal("a.b: acme 3, zoom 2", DescribeFacets(await QueryAsync(db, From + "facet('a.b')")));
        Assert.Equal(
            "@AllResults: @AllResults 5 c.d sum=0",
            DescribeFacets(await QueryAsync(db, From + "facet(sum(c.d))"))
        );
    }

    /// <summary>The terms of a full-text field are those of its analyzer.</summary>
    [Theory]
    [InlineData("WhitespaceAnalyzer", "suggest(name, 'Nikn-F')", "Nikon-F,Nikon-D")]
    [InlineData("LowerCaseWhitespaceAnalyzer", "suggest(name, 'NIKN-F')", "nikon-f,nikon-d")]
    [InlineData("KeywordAnalyzer", "suggest(name, 'Nikon-F an Nikon-D')", "Nikon-F and Nikon-D")]
    [InlineData("StandardAnalyzer", "suggest(name, 'nikn')", "nikon")]
    public async Task Suggestions_of_a_full_text_field_are_terms_of_its_analyzer(
        string analyzer,
        string selection,
        string expected
    )
    {
        string db = await FillAsync();
        await PutAsync(db, "lenses/1", "Lenses", "Nikon-F and Nikon-D");
        await DefineAsync(
            db,
            $$$$"""{"Name":"Lenses","Maps":["from l in docs.Lenses select new { l.name }"],"Fields":{"name":{"Indexing":"Search","Analyzer":"{{{{analyzer}}}}"}}}"""
        );
        Assert.Equal(expected, await SuggestAsync(db, $"from index 'Lenses' select {selection}"));
    }

    /// <summary>A word does not become more popular because one document repeats it.</summary>
    [Fact]
    public async Task The_popularity_of_a_suggestion_is_the_number_of_documents_that_contain_it()
    {
        string db = await FillAsync();
        await PutAsync(db, "lenses/1", "Lenses", "zoot zoot zoot zoot");
        await PutAsync(db, "lenses/2", "Lenses", "zoob");
        await PutAsync(db, "lenses/3", "Lenses", "zoob");
        Assert.Equal("zoob,zoot", await SuggestAsync(db, "from Lenses select suggest(name, 'zoom')"));
    }

    [Theory]
    [InlineData("from Cameras filter brand = 'zoom'", 5)]
    [InlineData("from Cameras filter brand = 'zoom' filter_limit 2", 2)]
    [InlineData("from Cameras where price > 9 filter brand = 'zoom'", 3)]
    [InlineData("from Cameras order by price filter brand = 'zoom' limit 1", 5)]
    [InlineData("from Cameras group by brand filter brand = 'zoom' select count()", 4)]
    [InlineData("from index 'ByBrand' where price > 9 filter brand = 'acme'", 3)]
    [InlineData("from Cameras", null)]
    public async Task The_answer_of_a_filter_counts_the_documents_it_read(string query, int? scanned)
    {
        string db = await FillAsync();
        await DefineIndexAsync(db);
        var answer = await QueryAsync(db, query);
        Assert.Equal(
            scanned,
            answer.TryGetProperty("ScannedResults", out var counted) ? counted.GetInt32() : default(int?)
        );
    }

    [Theory]
    [InlineData("nosuch = 5")]
    [InlineData("nosuch in ()")]
    [InlineData("nosuch all in ()")]
    [InlineData("nosuch in ($none)")]
    [InlineData("nosuch between 5 and 1")]
    [InlineData("nosuch between 5 and 'a'")]
    [InlineData("lucene(nosuch, '[5 TO 1]')")]
    public async Task A_field_that_the_index_lacks_is_refused_whatever_it_is_compared_with(string condition)
    {
        string db = await FillAsync();
        await DefineIndexAsync(db);
        string body = BodyOf($"from index 'ByBrand' where {condition}");
        (await server.SendAsync("POST", db + "/queries", body)).IsRefusal(400, "has no field 'nosuch'");
    }

    [Theory]
    [InlineData("from Cameras select facet(id('facets/none'))", 400, "facets/none")]
    [InlineData("from Cameras select facet(id('cameras/1'))", 400, "has no facet")]
    [InlineData("from Cameras select facet(brand, sum(price), name)", 400, "one field")]
    [InlineData("from Cameras select facet(brand), name", 400, "beside other parts")]
    [InlineData("from Cameras select distinct facet(brand)", 400, "'facet' cannot stand beside")]
    [InlineData("from Cameras select distinct suggest(text, 'a')", 400, "'suggest' cannot stand beside")]
    [InlineData("from Cameras filter price > 9 select facet(brand)", 400, "'facet' cannot stand beside 'filter'")]
    public async Task Invalid_facets_are_refused(string query, int status, string named)
    {
        string db = await FillAsync();
        (await server.SendAsync("POST", db + "/queries", BodyOf(query))).IsRefusal(status, named);
    }

    [Theory]
    [InlineData("""{"Facets":["brand"]}""", "'Facets' of the stored facet setup")]
    [InlineData("""{"Facets":{"FieldName":"brand"}}""", "'Facets' of")]
    [InlineData("""{"Facets":[{"FieldName":5}]}""", "'FieldName' of")]
    [InlineData("""{"Facets":[{"FieldName":"brand","Options":"x"}]}""", "'Options' of")]
    [InlineData("""{"Facets":[{"FieldName":"brand","Aggregations":["price"]}]}""", "'Aggregations' of")]
    [InlineData("""{"Facets":[{"FieldName":"brand","Aggregations":{"Sum":[5]}}]}""", "'Sum' of")]
    [InlineData("""{"Facets":[{"FieldName":"brand","Aggregations":{"Max":{}}}]}""", "'Max' of")]
    [InlineData("""{"RangeFacets":[["price < 10"]]}""", "'RangeFacets' of")]
    [InlineData("""{"RangeFacets":[{"Ranges":"price < 10"}]}""", "'Ranges' of")]
    [InlineData("""{"RangeFacets":[{"Ranges":["price < 10"],"Options":{"Surprise":1}}]}""", "'Surprise'")]
    [InlineData("""{"Facets":[{"FieldName":"brand"}],"RangeFacet":[]}""", "Did you mean 'RangeFacets'", 501)]
    [InlineData("""{"Facets":[{"FieldName":"brand","PageSize":1}]}""", "'PageSize' of 'Facets'", 501)]
    [InlineData("""{"RangeFacets":[{"Ranges":["price < 10"],"FieldName":"x"}]}""", "'FieldName' of", 501)]
    [InlineData("""{"Facets":[{"FieldName":"brand","Aggregations":{"Count":["x"]}}]}""", "'Count' of", 501)]
    [InlineData("""{"Facets":[{"FieldName":"brand","Aggregations":{"Sum":[{"Name":"x","As":1}]}}]}""", "'As' of", 501)]
    public async Task A_facet_setup_of_another_form_is_refused(string setup, string named, int status = 400)
    {
        string db = await FillAsync();
        Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/docs?id=facets/wrong", setup)).Status);
        string body = BodyOf("from Cameras select facet(id('facets/wrong'))");
        (await server.SendAsync("POST", db + "/queries", body)).IsRefusal(status, named);
    }

    [Theory]
    [InlineData("suggest(text, 'nigth')", "text: night")]
    [InlineData("suggest(text, 'NIGTH', '{\"SortMode\":\"None\",\"PageSize\":1}') as s", "s: night")]
    [InlineData("suggest(text, 'nigth', '{\"Accuracy\":0.99}')", "text: ")]
    [InlineData("suggest(text, 'nigth', '{\"Distance\":\"JaroWinkler\",\"Accuracy\":0.9}')", "text: night")]
    [InlineData("suggest(text, 'nigth', '{\"Distance\":\"NGram\",\"Accuracy\":0.6}')", "text: night")]
    [InlineData("suggest(text, 'night')", "text: light")]
    [InlineData("suggest(text, $words), suggest(brand, 'zoo')", "text: night,camera; brand: zoom")]
    [InlineData("suggest(text, 'nhgti', '{\"Accuracy\":0}')", "text: ")] // shares no two letters in a row
    [InlineData("suggest(text, '')", "text: ")]
    [InlineData("suggest(text, '\u0301')", "text: ")] // a combining mark, which comparisons of words ignore
    [InlineData("suggest(text, '\u0301', '{\"Distance\":\"NGram\",\"Accuracy\":0}')", "text: ")]
    [InlineData("suggest(text, '\u0301', '{\"Distance\":\"JaroWinkler\",\"Accuracy\":0}')", "text: ")]
    public async Task Suggestions_are_words_that_are_similar(string selection, string expected)
    {
        string db = await FillAsync();
        var results = (await QueryAsync(db, $"from Cameras select {selection}"))
            .GetProperty("Results")
            .EnumerateArray();
        Assert.Equal(
            expected,
            string.Join(
                "; ",
                results.Select(result =>
                    $"{result.GetProperty("Name").GetString()}: "
                    + $"{string.Join(',', result.GetProperty("Suggestions").EnumerateArray().Select(static word => word.GetString()))}"
                )
            )
        );
    }

    [Fact]
    public async Task Summaries_that_need_too_much_memory_are_refused_and_release_it()
    {
        // 200 documents with 200 words each have 40,000 values, too many for a node of 16 MiB.
        var small = new RunningServer { Memory = new MemoryBudget(16 << 20) };
        await small.InitializeAsync();
        try
        {
            string db = await small.CreateDatabaseAsync();
            for (int chunk = 0; chunk < 4; chunk++)
            {
                string commands = string.Join(
                    ',',
                    Enumerable
                        .Range(chunk * 50, 50)
                        .Select(i =>
                            $$"""{"Id":"items/{{i}}","Type":"PUT","Document":{"n":[{{string.Join(',', Enumerable.Range(0, 200).Select(j => $"\"word{i:000}{j:000}\""))}}],"m":{{i % 7}},"@metadata":{"@collection":"Items"} } }"""
                        )
                );
                Assert.Equal(
                    201,
                    (await small.SendAsync("POST", db + "/bulk_docs", $$"""{"Commands":[{{commands}}]}""")).Status
                );
            }

            for (int round = 0; round < 3; round++)
            {
                foreach (
                    string query in (string[])
                        ["from Items select facet(n)", "from Items select suggest(n, 'word000000')"]
                )
                {
                    (await small.SendAsync("POST", db + "/queries", BodyOf(query + " /* */"))).IsRefusal(400, "memory");
                }
            }

            Assert.Equal(
                "m: 0 29, 1 29, 2 29, 3 29, 4 28, 5 28, 6 28",
                DescribeFacets(
                    (await small.SendAsync("POST", db + "/queries", BodyOf("from Items select facet(m)"))).Json
                )
            );
        }
        finally
        {
            await small.DisposeAsync();
        }
    }

    /// <summary>
    /// Returns "facet: value count measures, …; …" of all facets; "+terms/hits" follows if not all terms are named.
    /// </summary>
    private static string DescribeFacets(JsonElement answer) =>
        string.Join(
            "; ",
            answer
                .GetProperty("Results")
                .EnumerateArray()
                .Select(static facet =>
                {
                    Assert.Equal(
                        ["Name", "Values", "RemainingHits", "RemainingTermsCount", "RemainingTerms"],
                        facet.EnumerateObject().Select(static member => member.Name)
                    );
                    string values = string.Join(
                        ", ",
                        facet
                            .GetProperty("Values")
                            .EnumerateArray()
                            .Select(static value => string.Join(' ', DescribeParts(value)))
                    );
                    int remaining = facet.GetProperty("RemainingTermsCount").GetInt32();
                    string remainingTerms =
                        remaining == 0
                            ? ""
                            : (
                                $" +{remaining}/{facet.GetProperty("RemainingHits").GetInt32()} "
                                + $"{string.Join(' ', facet.GetProperty("RemainingTerms").EnumerateArray().Select(static term => term.GetString()))}"
                            ).TrimEnd();
                    return $"{facet.GetProperty("Name").GetString()}: {values}".TrimEnd() + remainingTerms;
                })
        );

    private static IEnumerable<string> DescribeParts(JsonElement value)
    {
        yield return value.GetProperty("Range").GetString()!;
        yield return value.GetProperty("Count").GetRawText();
        foreach (
            var member in value
                .EnumerateObject()
                .Where(static member =>
                    member.Name is not ("Range" or "Count") && member.Value.ValueKind != JsonValueKind.Null
                )
        )
        {
            yield return member.NameEquals("Name")
                ? member.Value.GetString()!
                : $"{member.Name.ToLowerInvariant()}={member.Value.GetRawText()}";
        }
    }

    private static string BodyOf(string query) =>
        JsonSerializer.Serialize(
            new
            {
                Query = query,
                WaitForNonStaleResults = true,
                QueryParameters = new
                {
                    ten = 10,
                    words = (string[])["nigth", "camrea"],
                    none = Array.Empty<int>(),
                },
            }
        );

    private async Task<JsonElement> QueryAsync(string db, string query)
    {
        var answer = await server.SendAsync("POST", db + "/queries", BodyOf(query));
        Assert.True(answer.Status == 200, answer.Body);
        return answer.Json;
    }

    private Task DefineIndexAsync(string db) =>
        DefineAsync(
            db,
            """{"Name":"ByBrand","Maps":["map('Cameras', c => ({ brand: c.brand, price: c.price, text: c.text, words: c.text, hinted: c.text }))"],"Fields":{"words":{"Indexing":"Search"},"hinted":{"Suggestions":true}}}"""
        );

    private async Task DefineAsync(string db, string definition)
    {
        string body = $$"""{"Indexes":[{{definition}}]}""";
        Assert.Equal(201, (await server.SendAsync("PUT", db + "/admin/indexes", body)).Status);
    }

    private async Task PutAsync(string db, string id, string collection, string name)
    {
        string json = $$"""{"name":"{{name}}","@metadata":{"@collection":"{{collection}}"} }""";
        Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/docs?id={id}", json)).Status);
    }

    /// <summary>Returns the suggestions of a query with one 'suggest', separated by commas.</summary>
    private async Task<string> SuggestAsync(string db, string query)
    {
        var suggested = (await QueryAsync(db, query)).GetProperty("Results")[0].GetProperty("Suggestions");
        return string.Join(',', suggested.EnumerateArray().Select(static suggestion => suggestion.GetString()));
    }

    private async Task<string> FillAsync()
    {
        string db = await server.CreateDatabaseAsync();
        string[] cameras =
        [
            """ "brand":"Acme","price":10,"stock":1,"tags":["a","A","b"],"text":"Camera for the night" """,
            """ "brand":"ACME","price":20,"stock":2,"tags":["a"],"odd":null,"text":"Light camera" """,
            """ "brand":"acme","price":30,"stock":3,"odd":7,"text":"A camera" """,
            """ "brand":"Zoom","price":4.5,"stock":4,"odd":"","text":"Sees at night, at night" """,
            """ "brand":"Zoom","price":5,"odd":[false,{"x":1}],"text":"" """,
        ];
        foreach (var (i, camera) in cameras.Index())
        {
            Assert.Equal(
                201,
                (
                    await server.SendAsync(
                        "PUT",
                        $"{db}/docs?id=cameras/{i + 1}",
                        "{" + camera + ",\"@metadata\":{\"@collection\":\"Cameras\"}}"
                    )
                ).Status
            );
        }

        const string Setup =
            """{"Facets":[{"FieldName":"brand","DisplayFieldName":"Brand","Aggregations":{"Sum":[{"Name":"price","DisplayName":null}]},"Options":null}],"RangeFacets":[{"Ranges":["price < 10","price >= 10"]}]}""";
        Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/docs?id=facets/cameras", Setup)).Status);
        return db;
    }
}
