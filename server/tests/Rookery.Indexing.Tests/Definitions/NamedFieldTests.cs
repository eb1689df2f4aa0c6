using Rookery.Fixtures;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>Indexes hold the fields that documents name.</summary>
public sealed class NamedFieldTests
{
    private const string Index = "Products";

    private const string JavaScript =
        """{"Maps":["map('Users', p => ({ n: p.n, _: p.attributes.map(a => createField(a.name, a.value, { indexing: a.indexing, storage: true })) }))"],"Fields":{"n":{"Storage":"Yes"}}}""";

    [Fact]
    public void Fields_keep_their_numbers_across_restarts_and_power_cuts()
    {
        var random = new Random(4);
        var node = IndexedNode.New();
        node.Define(JavaScript, Index);
        var expected = new SortedDictionary<int, string>();
        for (int step = 0; step < 120; step++)
        {
            int n = random.Next(20);
            string name = $"f{random.Next(12)} ü.x";
            node.Put($"users/{n}", $$"""{"n":{{n}},"attributes":[{"name":"{{name}}","value":{{step}}}]"""[1..]);
            expected[n] = $$"""{"n":{{n}},"{{name}}":{{step}}}""";
            for (int work = random.Next(4); work > 0; work--)
            {
                node.Host.Step();
            }

            if (random.Next(10) == 0)
            {
                node = node.Restart(random.Next(2) == 0 ? random.Next() : null);
            }

            if (step % 20 == 19)
            {
                node.SettleAll();
                Assert.Equal(expected.Values.Order(StringComparer.Ordinal), node.ReadRows(Index));
                foreach (var rows in expected.Values.GroupBy(static row => row.Split('"')[3], StringComparer.Ordinal))
                {
                    Assert.Equal(rows.Count(), CountOf(node, rows.Key));
                }

                Assert.Equal(0, CountOf(node, "none"));
            }
        }

        Assert.Empty(node.Troubles);
        node.Dispose();
    }

    [Theory]
    [InlineData("missing")]
    [InlineData("damaged")]
    public void An_index_without_its_names_is_built_again(string kind)
    {
        var node = IndexedNode.New();
        node.Define(JavaScript, Index);
        node.Put("users/1", "\"n\":1,\"attributes\":[{\"name\":\"color\",\"value\":\"red\"}]");
        node.SettleAll();
        string path = IndexedNode.Directory + "/indexes/1/1/names";
        node.Disk.Delete(path);
        if (kind is "damaged")
        {
            using var file = node.Disk.Open(path, Platform.DiskOpen.CreateNew);
            file.Write("0 YQ==\ncheck 00000000\n"u8, 0);
            file.Sync();
        }

        node = node.Restart();
        node.SettleAll();
        Assert.Equal(1, CountOf(node, "color"));
        Assert.Single(node.Troubles);
        node.Dispose();
    }

    [Fact]
    public void Documents_name_a_bounded_number_of_fields()
    {
        using var node = IndexedNode.New();
        node.Define(JavaScript, Index);
        string attributes = string.Join(
            ',',
            Enumerable.Range(0, NamedFields.MaxNames).Select(static i => $$"""{"name":"f{{i}}","value":1}""")
        );
        node.Put("users/1", $"\"n\":1,\"attributes\":[{attributes}]");
        node.SettleAll();
        node.Put("users/2", "\"n\":2,\"attributes\":[{\"name\":\"f7\",\"value\":1}]");
        node.Put("users/3", "\"n\":3,\"attributes\":[{\"name\":\"one more\",\"value\":1}]");
        node.SettleAll();
        Assert.Equal(2, CountOf(node, "f7"));
        Assert.Contains(
            "'one more'",
            Assert.Single(node.Host.ReadErrors(node.Database(), Index)).Message,
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("{ _: d.text }", "takes what createField returns")]
    [InlineData("{ _: createField('', 1) }", "needs a name")]
    [InlineData("{ _: createField(null, 1) }", "needs a name")]
    [InlineData("{ _: createField('a', 1, { boost: 3 }) }", "'boost'")]
    [InlineData("{ _: createField('a', 1, { indexing: 10 }) }", "'10'")]
    [InlineData("{ _: createField('a', 1, { indexing: 'Exact, Search' }) }", "'Exact, Search'")]
    [InlineData("{ a: 1, _: createField('a', 1) }", "returns already")]
    [InlineData("{ _: [createField('a', 1, { indexing: 'Exact' }), createField('a', 1)] }", "two kinds")]
    public void Other_values_are_errors_of_their_document(string row, string message)
    {
        using var node = IndexedNode.New();
        node.Define($$"""{"Maps":["map('Users', d => ({{row}}))"]}""", Index);
        node.Put("users/1", "\"text\":\"a\"");
        node.SettleAll();
        Assert.Contains(
            message,
            Assert.Single(node.Host.ReadErrors(node.Database(), Index)).Message,
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("map('Users', d => ({ _: createField('x', d.text, { storage: 'Yes', termVector: null }) }))")]
    [InlineData(
        "map('Users', d => ({ _: { $name: 'x', $value: d.text, $options: { indexing: 'Exact', storage: true } } }))"
    )]
    [InlineData("map('Users', d => ({ _: [null, [createField('x', d.text, { storage: true })]] }))")]
    [InlineData("from d in docs.Users select new { _ = CreateField(\"x\", d.text, true) }")]
    [InlineData("from d in docs.Users select new { _ = CreateField(\"x\", d.text, true, false) }")]
    [InlineData(
        "from d in docs.Users select new { _ = new[] { 1 }.Select(i => this.CreateField(\"x\", d.text, true, true)) }"
    )]
    [InlineData(
        "from d in docs.Users select new { _ = CreateField(\"x\", d.text, new CreateFieldOptions { Storage = FieldStorage.Yes, Indexing = FieldIndexing.Exact }) }"
    )]
    public void The_forms_of_RavenDB_are_read(string map)
    {
        using var node = IndexedNode.New();
        string json = System.Text.Json.JsonSerializer.Serialize(map);
        node.Define($$"""{"Maps":[{{json}}]}""", Index);
        node.Put("users/1", "\"text\":\"Ann\"");
        node.SettleAll();
        Assert.Equal("""{"x":"Ann"}""", Assert.Single(node.ReadRows(Index)));
        Assert.Equal(1, CountOf(node, "x"));
    }

    [Theory]
    [InlineData(
        """{"Name":"x","Maps":["map('Users', u => ({ n: 1, _: createField('a', 1) }))"],"Reduce":"groupBy(x => x.n).aggregate(g => ({ n: g.key }))"}"""
    )]
    [InlineData("""{"Name":"x","Maps":["map('Users', u => ({ n: { $value: 1, $options: { storage: true } } }))"]}""")]
    public void Settings_elsewhere_are_refused(string definition)
    {
        using var json = System.Text.Json.JsonDocument.Parse(definition);
        Assert.ThrowsAny<IndexDefinitionException>(() => StaticIndexRequest.Parse(json.RootElement));
    }

    // Number of entries with a value in the field.
    private static int CountOf(IndexedNode node, string name)
    {
        var field = node.Serving(Index).Fields.Find(new FieldReader([name]))!;
        using var snapshot = node.Serving(Index).OpenSnapshot();
        int count = 0;
        foreach (var (reader, live) in snapshot.Segments)
        {
            var postings = reader.Field(field.Presence)?.Postings(MappedField.AnyValue);
            while (postings is not null && postings.MoveNext() != Search.Segments.Postings.EntryCursor.End)
            {
                count += live.IsLive(postings.Current) ? 1 : 0;
            }
        }

        return count;
    }
}
