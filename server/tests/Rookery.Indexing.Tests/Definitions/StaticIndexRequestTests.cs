using System.Text;
using System.Text.Json;
using Rookery.Documents.Indexes;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>Definitions are read as RavenDB's Node.js client sends them, and have one stored form.</summary>
public sealed class StaticIndexRequestTests
{
    private const string Map = """["map('Users', u => ({ name: u.name, bio: u.bio }))"]""";

    /// <summary>Bodies that the client (7.2.6) sends for classes of each kind.</summary>
    public static TheoryData<string, string> OfTheClient =>
        new()
        {
            {
                """{"Name":"Users/ByName","Priority":"High","LockMode":"LockedIgnore","IndexType":"JavaScriptMapReduce","Maps":["map('Users', u => ({ name: u.name, count: 1 }))"],"Reduce":"groupBy(x => x.name).aggregate(g => ({ name: g.key, count: g.values.reduce((p, c) => p + c.count, 0) }))","Fields":{"name":{"Storage":"Yes","Indexing":"Search","TermVector":"WithPositionsAndOffsets","Analyzer":"StandardAnalyzer","Suggestions":true},"__all_fields":{"Storage":"Yes"}},"Configuration":{}}""",
                "name count"
            },
            {
                """{"Name":"Orders/ByCompany","IndexType":"JavaScriptMap","Maps":["map('Orders', o => { const c = load(o.company, \"Companies\"); return { company: c.name, at: getMetadata(o)[\"@last-modified\"] }; })"],"Fields":{},"Configuration":{}}""",
                "company at"
            },
            {
                """{"Name":"Raw","IndexType":"JavaScriptMapReduce","AdditionalSources":{},"CompoundFields":[],"AdditionalAssemblies":[],"Maps":["map('Users', function (u){ return { name: u.name, count: 1};})"],"Reduce":"groupBy(x => x.name).aggregate(g => { return { name: g.key, count: g.values.reduce((t,v) => t + v.count, 0) }; })","Fields":{"name":{"Storage":"Yes"}},"Configuration":{}}""",
                "name count"
            },
            {
                """{"Name":"Cs","IndexType":"MapReduce","Maps":["from doc in docs.Users select new { doc.name, count = 1 }"],"Reduce":"from r in results group r by r.name into g select new { name = g.Key, count = g.Sum(x => x.count) }","Fields":{"name":{"Indexing":"Exact"}},"Configuration":{}}""",
                "name count"
            },
            {
                """{"Name":"Multi","IndexType":"JavaScriptMap","Maps":["map('Users', u => ({ name: u.name }))","map('Dogs', function (d) { return { name: d.name } })"],"Fields":{},"Configuration":{}}""",
                "name"
            },
            {
                """{"Name":"CsMulti","IndexType":"Map","Maps":["docs.Cats.Select(c => new { name = c.name })","from d in docs.Dogs select new { d.name }"],"Fields":{},"Configuration":{}}""",
                "name"
            },
        };

    [Theory]
    [MemberData(nameof(OfTheClient))]
    public void Definitions_of_the_client_are_read(string json, string fields)
    {
        var request = Parse(json);
        Assert.Equal(fields, string.Join(' ', request.Definition.Fields.Select(static field => field.Name)));
        byte[] canonical = request.Definition.ToJson();
        Assert.Equal(canonical, StaticIndexDefinition.TryRead(canonical)!.ToJson());
    }

    [Fact]
    public void Options_of_fields_are_read()
    {
        var request = Parse((string)OfTheClient.First()[0]);
        Assert.Equal("Users/ByName", request.Name);
        Assert.Equal(new IndexSettingsChange(IndexLockMode.LockedIgnore, IndexPriority.High), request.Settings);
        Assert.Equal(
            [
                new("name", FieldIndexing.Search, "StandardAnalyzer", IsStored: true, HasSuggestions: true),
                new StaticIndexField("count", IsStored: true),
            ],
            request.Definition.Fields
        );
        Assert.Equal(
            FieldIndexing.Search,
            Parse($$$$"""{"Name":"A","Maps":{{{{Map}}}},"Fields":{"bio":{"Analyzer":"WhitespaceAnalyzer"}}}""")
                .Definition.Fields[1]
                .Indexing
        );
        Assert.True(Parse($$"""{"Name":"A","Maps":{{Map}},"State":"Disabled"}""").Settings.IsDisabled);
    }

    /// <summary>RavenDB's Studio sends the analyzers that the kinds of fields imply.</summary>
    [Theory]
    [InlineData("Exact", "KeywordAnalyzer")]
    [InlineData("Default", "LowerCaseKeywordAnalyzer")]
    [InlineData("Search", "WhitespaceAnalyzer")]
    public void An_analyzer_that_the_kind_of_a_field_implies_is_accepted(string indexing, string analyzer) =>
        Assert.Equal(
            Enum.Parse<FieldIndexing>(indexing),
            Parse(
                $$$$"""{"Name":"A","Maps":{{{{Map}}}},"Fields":{"bio":{"Indexing":"{{{{indexing}}}}","Analyzer":"{{{{analyzer}}}}"}}}"""
            )
                .Definition.Fields[1]
                .Indexing
        );

    [Theory]
    [InlineData("Auto/Users/ByName")]
    [InlineData("replacementOf/Users/ByName")]
    public void A_name_reserved_for_the_server_is_refused(string name) =>
        Assert.Contains(
            "Names that begin with",
            Assert.Throws<IndexDefinitionException>(() => Parse($$"""{"Name":"{{name}}","Maps":{{Map}}}""")).Message,
            StringComparison.Ordinal
        );

    [Fact]
    public void Collections_are_those_of_the_maps()
    {
        Assert.Equal(
            ["Cats", "Dogs"],
            Parse(
                """{"Name":"A","Maps":["from d in docs.Dogs select new { d.name }","docs.Cats.Select(c => new { c.name })"]}"""
            ).Definition.Collections
        );
        Assert.Empty(
            Parse(
                """{"Name":"A","Maps":["from d in docs.Dogs select new { d.name }","from d in docs select new { d.name }"]}"""
            ).Definition.Collections
        );
    }

    [Theory]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })","docs.B.Select(a => new { a.b })"]}""",
        """{"Name":"B","Maps":["docs.B.Select(a => new { a.b })","  docs.A.Select(a => new { a.b })\r\n"],"Fields":{"b":{}},"Configuration":{"Indexing.Static.SearchEngineType":"Corax"}}""",
        true
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b, a.c })"],"Fields":{"b":{"Storage":"Yes"},"c":{"Indexing":"Exact"}}}""",
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b, a.c })"],"Fields":{"c":{"Indexing":"Exact"},"b":{"Storage":"Yes","Indexing":null}},"Reduce":null}""",
        true
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"]}""",
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Fields":{"b":{"Storage":"Yes"}}}""",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"]}""",
        """{"Name":"A","Maps":["docs.A.Select(a => new  { a.b })"]}""",
        false
    )]
    public void Equal_definitions_have_equal_bytes(string one, string other, bool isSame) =>
        Assert.Equal(isSame, Parse(one).Definition.ToJson().AsSpan().SequenceEqual(Parse(other).Definition.ToJson()));

    [Theory]
    [InlineData("""{"Maps":["docs.A.Select(a => new { a.b })"]}""", "needs a name", false)]
    [InlineData("""{"Name":"Auto/A","Maps":["docs.A.Select(a => new { a.b })"]}""", "automatic indexes", false)]
    [InlineData("""{"Name":"A","Maps":[]}""", "needs a map", false)]
    [InlineData("""{"Name":"A","Maps":"x"}""", "'Maps' must be a list of strings", false)]
    [InlineData("""{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Foo":1}""", "'Foo'", true)]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Configuration":"""
            + """{"Indexing.Static.SearchEngineType":"Other"}}""",
        "must be None, Lucene or Corax, not 'Other'",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"AdditionalSources":{"x":"class A { }"}}""",
        "'AdditionalSources' of an index with a map in C#",
        true
    )]
    [InlineData(
        """{"Name":"A","Maps":["map('A', a => ({ b: a.b }))"],"AdditionalSources":{"x":"function f(a) { return eval(a) }"}}""",
        "The text of the additional sources, line 1, column 24: This server does not run the function 'eval'",
        true
    )]
    [InlineData(
        """{"Name":"A","Maps":["map('A', a => ({ b: a.b }))"],"AdditionalSources":{"x":"const f = a => a"}}""",
        "The text of the additional sources, line 1, column 1",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["map('A', a => ({ b: a.b }))"],"AdditionalSources":{"x":1}}""",
        "'x' must be a string",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["map('A', a => ({ b: a.b }))"],"Configuration":{"Indexing.IndexMissingFieldsAsNull":"yes"}}""",
        "'Indexing.IndexMissingFieldsAsNull' must be true or false, not 'yes'",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["map('A', a => ({ b: boost(a.b, 2) }))","map('B', a => ({ b: a.b }))"]}""",
        "boost the field 'b' by different factors",
        true
    )]
    [InlineData(
        """{"Name":"A","Maps":["map('A', a => ({ b: boost(a.b, 2) }))"],"Reduce":"groupBy(x => x.b).aggregate(g => ({ b: g.key }))"}""",
        "a boost in the map of an index with a reduce",
        true
    )]
    [InlineData(
        """{"Name":"A","Maps":["map('A', a => ({ b: a.b }))"],"Reduce":"groupBy(x => x.b).aggregate(g => ({ b: boost(g.key, 2) }))"}""",
        "a boost in a reduce",
        true
    )]
    [InlineData("""{"Name":"A","Maps":["map('A', a => ({ b: cmpxchg(a.b).c }))"]}""", "'cmpxchg'", true)]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { b = LoadCompareExchangeValue(a.b) })"]}""",
        "'LoadCompareExchangeValue'",
        true
    )]
    [InlineData(
        """{"Name":"A","Maps":["map('A', a => ({ b: loadAttachment(a, 'c').getContentAsString() }))"]}""",
        "'getContentAsString'",
        true
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { b = LoadAttachment(a, \"c\").GetContentAsString() })"]}""",
        "'GetContentAsString'",
        true
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"OutputReduceToCollection":"B"}""",
        "'OutputReduceToCollection'",
        true
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Fields":{"b":{"Spatial":{"Type":"Geography"}}}}""",
        "'Spatial' of the field 'b'",
        true
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Fields":{"c":{"Storage":"Yes"}}}""",
        "a field 'c', which the index does not have. It has b",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Fields":{"b":{"Indexing":"Foo"}}}""",
        "'Indexing' must be one of",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Fields":{"b":{"Analyzer":"FooAnalyzer"}}}""",
        "no analyzer 'FooAnalyzer'",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Fields":{"b":{"Indexing":"Exact","Analyzer":"FooAnalyzer"}}}""",
        "no analyzer 'FooAnalyzer'",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Fields":{"b":{"Indexing":"Default","Analyzer":"FooAnalyzer"}}}""",
        "no analyzer 'FooAnalyzer'",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Configuration":{"Indexing.MapBatchSize":"5"}}""",
        "'Indexing.MapBatchSize'",
        true
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Reduce":"results.GroupBy(r => r.b).Select(g => new { c = g.Key })"}""",
        "does not return 'b'",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Reduce":"results.GroupBy(r => r.b).Select(g => new { b = g.Key, c = 1 })"}""",
        "does not return 'c'",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["from a in docs.A select new { b = 1, a.o.b }"]}""",
        "line 1, column 38: The member 'b' occurs twice",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Configuration":{"Indexing.Lucene.Analyzers.NGram.MinGrams":"3"}}""",
        "'Indexing.Lucene.Analyzers.NGram.MinGrams'",
        true
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Configuration":{"Other.Analyzers.NGram.MinGram":"3"}}""",
        "'Other.Analyzers.NGram.MinGram'",
        true
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Configuration":{"Indexing.Lucene.Analyzers.NGram.MinGram":"x"}}""",
        "'x' is not a number of letters",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Configuration":{"Indexing.Lucene.Analyzers.NGram.MaxGram":"17"}}""",
        "1 to 16 letters",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Fields":{"b":{"Indexing":"0"}}}""",
        "'Indexing' must be one of",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Fields":{"b":{"Indexing":"Exact,No"}}}""",
        "'Indexing' must be one of",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Fields":{"b":{"Suggestions":"true"}}}""",
        "'Suggestions' of the field 'b' must be true or false",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Priority":"1"}""",
        "'Priority' must be one of",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Fields":{"b":{"Indexing":"Exact","Analyzer":"StandardAnalyzer"}}}""",
        "has an analyzer",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Fields":{"b":{"Indexing":"Default","Analyzer":"WhitespaceAnalyzer"}}}""",
        "has an analyzer",
        false
    )]
    [InlineData(
        """{"Name":"A","Maps":["docs.A.Select(a => new { a.b })"],"Fields":{"b":{"Indexing":"No","Analyzer":"KeywordAnalyzer"}}}""",
        "has an analyzer",
        false
    )]
    [InlineData("""[]""", "must be a JSON object", false)]
    public void An_invalid_definition_is_refused_with_the_reason(string json, string message, bool isNotSupported)
    {
        var refusal = Assert.Throws<IndexDefinitionException>(() => Parse(json));
        Assert.Contains(message, refusal.Message, StringComparison.Ordinal);
        Assert.Equal(isNotSupported, refusal.IsNotSupported);
    }

    [Fact]
    public void An_index_of_more_fields_than_a_segment_holds_is_refused()
    {
        Assert.Equal(13_107, Parse(TextOf(13_107)).Definition.Fields.Count);
        Assert.Contains(
            "has 13,108 fields",
            Assert.Throws<IndexDefinitionException>(() => Parse(TextOf(13_108))).Message,
            StringComparison.Ordinal
        );

        static string TextOf(int fields)
        {
            // An object has at most 4,096 members, so several maps share the fields.
            var maps = Enumerable
                .Range(0, fields)
                .Chunk(4_096)
                .Select(static chunk => string.Join(',', chunk.Select(static number => $"f{number}:1")))
                .Select(static members => $$"""map('A', a => ({{{members}}}))""");
            return $$"""{"Name":"A","Maps":["{{string.Join("\",\"", maps)}}"]}""";
        }
    }

    [Fact]
    public void Functions_of_additional_sources_can_be_called_in_maps_and_reduce()
    {
        var definition = Parse(
            """{"Name":"A","Maps":["map('Users', u => ({ name: title(u.name), count: 1 }))"],"Reduce":"groupBy(r => r.name).aggregate(g => ({ name: g.key, count: total(g.values) }))","AdditionalSources":{"b":"function title(n) { return prefix() + load(n, 'Names').text }","a":"function prefix() { return 'Mr. ' }\nfunction total(v) { return v.reduce((n, x) => n + x.count, 0) }"}}"""
        ).Definition;
        Assert.Equal(["Names"], definition.LoadedCollections);
        Assert.Equal(["a", "b"], definition.AdditionalSources.Keys);
        byte[] canonical = definition.ToJson();
        Assert.Equal(canonical, StaticIndexDefinition.TryRead(canonical)!.ToJson());
        Assert.Equal(["Users", "Names"], StaticIndexDefinition.TryReadCollections(canonical));
    }

    [Fact]
    public void A_refusal_shows_the_position() =>
        Assert.Equal(
            "The map, line 2, column 3: This server does not run 'orderby' here\n  orderby u.name select new { "
                + "u.name }\n  ^",
            Assert
                .Throws<IndexDefinitionException>(() =>
                    Parse("""{"Name":"A","Maps":["from u in docs.Users\r\n  orderby u.name select new { u.name }"]}""")
                )
                .Message
        );

    /// <summary>
    /// Clients send their definitions at each start, and a check of the reduce takes up to two seconds.
    /// </summary>
    [Fact]
    public void The_reduce_of_a_stored_definition_is_not_checked_again()
    {
        const string Definition =
            """{"Name":"A","Maps":["map('Users', u => ({ k: u.k, a: 1 }))"],"Reduce":"groupBy(r => r.k).aggregate(g => ({ k: g.key, a: g.values.length }))"}""";
        Assert.Throws<IndexDefinitionException>(() => Parse(Definition));
        using var json = JsonDocument.Parse(Definition);
        Assert.Equal("A", StaticIndexRequest.Parse(json.RootElement, static _ => true).Name);
        Assert.Throws<IndexDefinitionException>(() => StaticIndexRequest.Parse(json.RootElement, static _ => false));
    }

    private static StaticIndexRequest Parse(string json)
    {
        using var document = JsonDocument.Parse(Encoding.UTF8.GetBytes(json));
        return StaticIndexRequest.Parse(document.RootElement);
    }
}
