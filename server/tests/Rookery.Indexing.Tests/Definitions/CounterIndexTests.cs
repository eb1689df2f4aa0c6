using System.Globalization;
using System.Text;
using Rookery.Documents.Stored;
using Rookery.Fixtures;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Mapping;
using Rookery.Platform;
using Rookery.Simulation;
using Rookery.Storage;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>Indexes over counters equal a computation from the counters of the documents.</summary>
public sealed class CounterIndexTests
{
    private const string Likes = "Likes";
    private const string All = "All";
    private const string Sums = "Sums";
    private const string Names = "Names";

    private static readonly (string Name, string Definition)[] Indexes =
    [
        (
            Likes,
            """{"Maps":["counters.map('Users', 'LIKES', c => ({ user: c.DocumentId, value: c.Value, name: c.Name }))"],"Fields":{"__all_fields":{"Storage":"Yes"}}}"""
        ),
        (
            All,
            """{"Maps":["from c in counters.Users select new { user = c.DocumentId, value = c.Value, name = c.Name, city = LoadDocument<Company>(\"companies/1\", \"Companies\").city }"],"Fields":{"__all_fields":{"Storage":"Yes"}}}"""
        ),
        (
            Sums,
            """{"Maps":["counters.map(c => ({ name: c.Name.toLowerCase(), value: c.Value }))"],"Reduce":"groupBy(x => x.name).aggregate(g => ({ name: g.key, value: g.values.reduce((n, v) => n + v.value, 0) }))"}"""
        ),
        (
            Names,
            """{"Maps":["map('Users', u => ({ id: id(u), names: counterNamesFor(u) }))"],"Fields":{"__all_fields":{"Storage":"Yes"}}}"""
        ),
    ];

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void Indexes_match_the_counters_across_crashes(int seed)
    {
        var random = new Random(seed);
        var node = IndexedNode.New();
        foreach (var (name, definition) in Indexes)
        {
            node.Define(definition, name);
        }

        for (int step = 0; step < 300; step++)
        {
            Change(node, random);
            for (int work = random.Next(4); work > 0; work--)
            {
                node.Host.Step();
            }

            if (random.Next(14) == 0)
            {
                node = node.Restart(random.Next(2) == 0 ? random.Next() : null);
            }

            if (random.Next(50) == 0)
            {
                node.Follow();
                Assert.True(node.Host.Reset(node.Database(), Indexes[random.Next(Indexes.Length)].Name));
            }

            if (step % 30 == 29)
            {
                node.SettleAll();
                Check(node);
            }
        }

        Assert.Empty(node.Troubles);
        node.Dispose();
    }

    [Fact]
    public void An_increment_makes_only_indexes_over_counters_stale()
    {
        using var node = IndexedNode.New();
        foreach (var (name, definition) in Indexes)
        {
            node.Define(definition, name);
        }

        node.Put("users/1", "\"n\":1");
        node.Count("users/1", ("Increment", "likes", 1));
        node.SettleAll();
        Assert.All(Indexes, index => Assert.False(node.Status(index.Name).IsStale));
        node.Count("users/1", ("Increment", "likes", 1));
        Assert.Equal((true, true, false), (IsStale(Likes), IsStale(Sums), IsStale(Names)));
        node.SettleAll();
        Assert.All(Indexes, index => Assert.False(node.Status(index.Name).IsStale));

        // A paused index passes over operations without documents, but not over increments that it lacks.
        Assert.True(node.Host.SetPaused(node.Database(), Likes, isPaused: true));
        node.Count("users/1", ("Increment", "likes", 1));
        node.SettleAll();
        Assert.Equal((true, false), (IsStale(Likes), IsStale(Sums)));

        bool IsStale(string name) => node.Status(name).IsStale;
    }

    [Fact]
    public void A_counter_that_one_request_deletes_and_creates_again_is_indexed_with_its_new_value()
    {
        using var node = IndexedNode.New();
        node.Define(Indexes[0].Definition, Likes);
        node.Put("users/1", "\"n\":1");
        node.Count("users/1", ("Increment", "likes", 5));
        node.SettleAll();
        node.Count("users/1", ("Delete", "likes", 0), ("Increment", "likes", 2));
        node.SettleAll();
        Assert.Equal("""{"user":"users/1","value":2,"name":"likes"}""", Assert.Single(node.ReadRows(Likes)));
    }

    [Fact]
    public void A_document_with_many_changed_counters_is_mapped_once_in_a_step()
    {
        using var node = IndexedNode.New();
        node.Define(
            """{"Maps":["counters.map('Users', c => ({ n: c.Value }))"],"Fields":{"n":{"Storage":"Yes"}}}""",
            "n"
        );
        node.Put("users/1", "\"n\":1");
        for (int i = 0; i < 6; i++)
        {
            node.Count("users/1", ("Increment", $"c{i}", 1));
        }

        node.SettleAll();
        for (int i = 0; i < 6; i++)
        {
            node.Count("users/1", ("Increment", $"c{i}", 1));
        }

        using var reader = node.Database().OpenReader();
        using var changes = reader.SeekChanges(node.Serving("n").Position, withCounters: true);
        for (int i = 0; i < 6; i++)
        {
            Assert.True(changes.MoveNext() && changes is { IsCounter: true, IsTombstone: false });
        }

        Assert.False(changes.MoveNext());
        node.SettleAll();
        Assert.Equal(6, node.ReadRows("n").Count(static row => row is """{"n":2}"""));
    }

    [Fact]
    public void A_step_passes_over_a_bounded_number_of_replaced_changes_of_counters()
    {
        using var node = IndexedNode.New(IndexedNode.SmallSteps with { DocumentsPerStep = 1 });
        node.Define(Indexes[0].Definition, Likes);
        node.Put("users/1", "\"n\":1");
        node.Count("users/1", ("Increment", "likes", 1));
        node.SettleAll();
        for (int i = 0; i < 600; i++)
        {
            node.Count("users/1", ("Increment", "likes", 1));
        }

        using (var reader = node.Database().OpenReader())
        using (var changes = reader.SeekChanges(node.Serving(Likes).Position, withCounters: true))
        {
            Assert.True(changes.MoveNext());
            Assert.Equal((true, false, false), (changes.IsPassed, changes.IsCounter, changes.IsTombstone));
        }

        long before = node.Serving(Likes).Position;
        Assert.True(node.Step());
        Assert.InRange(node.Serving(Likes).Position, before + 1, node.Database().LastEtag - 1);
        node.SettleAll();
        Assert.Equal("""{"user":"users/1","value":601,"name":"likes"}""", Assert.Single(node.ReadRows(Likes)));
        Assert.False(node.Status(Likes).IsStale);
    }

    [Fact]
    public void Counters_of_a_document_that_load_the_same_documents_count_each_once()
    {
        using var node = IndexedNode.New();
        node.Define(
            """{"Maps":["counters.map('Users', c => ({ n: [1,2,3,4,5,6,7,8,9].map(i => load('companies/' + i, 'Companies')).length }))"],"Fields":{"n":{"Storage":"Yes"}}}""",
            "n"
        );
        node.Put("users/1", "\"n\":1");
        node.Count("users/1", [.. Enumerable.Range(0, 460).Select(static i => ("Increment", $"c{i}", 1L))]);
        node.SettleAll();
        Assert.Empty(node.Host.ReadErrors(node.Database(), "n"));
        Assert.Equal(460, node.ReadRows("n").Count(static row => row is """{"n":9}"""));
    }

    [Fact]
    public void A_damaged_counter_stops_only_indexes_over_counters()
    {
        SimulatedDisk disk;
        using (var node = IndexedNode.New())
        {
            for (int i = 0; i < 20; i++)
            {
                node.Put($"users/{i}", "\"n\":1");
                node.Count($"users/{i}", [.. Enumerable.Range(0, 40).Select(c => ("Increment", $"c{c}-{i}", 1L))]);
            }

            node.Store.Storage.Memtables.RequestFlush();
            while (node.Store.Background.DoStep()) { }

            disk = node.Disk;
        }

        int stopped = 0;
        foreach (string path in disk.Files.Where(static path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            for (long offset = 2000; offset < LengthOf(disk, path); offset += 4000)
            {
                var damaged = disk.AfterPowerLoss(seed: 1);
                damaged.Rot(path, offset, mask: 1);
                using var node = TryOpen(damaged);
                if (node is null || !CanReadDocuments(node))
                {
                    continue;
                }

                node.Define(Indexes[0].Definition.Replace("'LIKES', ", "", StringComparison.Ordinal), Likes);
                node.DefineField("n", "o.n");
                node.SettleAll();
                Assert.False(node.Status("n").IsStale, $"{path} at {offset}");
                stopped += node.Status(Likes).IsStale ? 1 : 0;
            }
        }

        Assert.True(stopped > 0);
    }

    private static long LengthOf(SimulatedDisk disk, string path)
    {
        using var file = disk.Open(path, DiskOpen.Read);
        return file.Length;
    }

    private static IndexedNode? TryOpen(SimulatedDisk disk)
    {
        try
        {
            return IndexedNode.Open(disk);
        }
        catch (DamagedException)
        {
            return null; // every start reads this block
        }
    }

    private static bool CanReadDocuments(IndexedNode node)
    {
        try
        {
            using var reader = node.Database().OpenReader();
            using var documents = reader.SeekByIdPrefix([]);
            while (documents.MoveNext())
            {
                _ = documents.View;
            }

            using var changes = reader.SeekChanges(0);
            while (changes.MoveNext()) { }

            return true;
        }
        catch (DamagedException)
        {
            return false;
        }
    }

    [Fact]
    public void More_rows_than_a_document_may_have_are_an_error_of_the_document()
    {
        using var node = IndexedNode.New();
        node.Define(
            """{"Maps":["counters.map('Users', c => ({ n: c.Value }))"],"Fields":{"n":{"Storage":"Yes"}}}""",
            "n"
        );
        node.Put("users/1", "\"n\":1");
        node.Put("users/2", "\"n\":1");
        node.Count("users/1", [.. Enumerable.Range(0, 2049).Select(static i => ("Increment", $"c{i}", 1L))]);
        node.Count("users/2", ("Increment", "c", 1));
        node.SettleAll();
        Assert.Equal("""{"n":1}""", Assert.Single(node.ReadRows("n")));
        Assert.Contains(
            "2048 rows",
            Assert.Single(node.Host.ReadErrors(node.Database(), "n")).Message,
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("counters.map('Users', 'Likes', c => ({ v: c.Value }))", "Users", "Likes")]
    [InlineData("counters . map ( 'Users' , c => ({ v: c.Value }))", "Users", null)]
    [InlineData("counters.map(function (c) { return { v: c.Value }; })", null, null)]
    [InlineData(
        "function f(c) { return c.Value } counters.map('@all_docs', 'Likes', c => ({ v: f(c) }))",
        null,
        "Likes"
    )]
    [InlineData("from c in counters.Users.Likes select new { v = c.Value }", "Users", "Likes")]
    [InlineData("from c in counters.Users select new { v = c.Value }", "Users", null)]
    [InlineData("from c in counters select new { v = c.Value }", null, null)]
    [InlineData("counters.Users[\"Likes a lot\"].Select(c => new { v = c.Value })", "Users", "Likes a lot")]
    [InlineData("counters.map.Select(c => new { v = c.Value })", "map", null)]
    public void The_source_of_a_map_over_counters_is_read(string text, string? collection, string? counter) =>
        Assert.Equal(new MapSource(collection, IsOfCounters: true, counter), IndexScript.CompileMap(text).Source);

    [Theory]
    [InlineData("""{"Name":"x","Maps":["map('Users', u => ({ v: 1 }))","counters.map('Users', c => ({ v: 1 }))"]}""")]
    [InlineData("""{"Name":"x","Maps":["counters.map('Users', '', c => ({ v: 1 }))"]}""")]
    [InlineData("""{"Name":"x","Maps":["counters.map('Users', 'a', 'b', c => ({ v: 1 }))"]}""")]
    [InlineData("""{"Name":"x","Maps":["counters.map(1, c => ({ v: 1 }))"]}""")]
    [InlineData("""{"Name":"x","Maps":["timeseries.map('Users', c => ({ v: 1 }))"]}""")]
    public void Other_sources_are_refused(string definition)
    {
        using var json = System.Text.Json.JsonDocument.Parse(definition);
        Assert.ThrowsAny<IndexDefinitionException>(() => StaticIndexRequest.Parse(json.RootElement));
    }

    private static void Change(IndexedNode node, Random random)
    {
        string id = $"{(random.Next(5) == 0 ? "dogs" : "users")}/{random.Next(5)}";
        string collection = id.StartsWith("dogs", StringComparison.Ordinal) ? "Dogs" : "Users";
        switch (random.Next(12))
        {
            case 0 or 1:
                node.Put(id, $"\"n\":{random.Next(9)}", collection);
                break;
            case 2:
                node.Put(id, "\"n\":0", random.Next(2) == 0 ? "Users" : "Dogs");
                break;
            case 3 when Exists(node, id):
                node.Delete(id);
                break;
            case 4:
                node.Put("companies/1", $"\"city\":\"c{random.Next(3)}\"", "Companies");
                break;
            default:
                if (Exists(node, id))
                {
                    node.Count(id, [.. Enumerable.Range(0, random.Next(1, 5)).Select(_ => Operation(random))]);
                }

                break;
        }
    }

    private static (string, string, long) Operation(Random random) =>
        (
            random.Next(4) == 0 ? "Delete" : "Increment",
            (string[])["likes", "Likes", "dislikes", "É", "é"] is var names ? names[random.Next(names.Length)] : "",
            random.Next(-3, 9)
        );

    private static bool Exists(IndexedNode node, string id)
    {
        using var reader = node.Database().OpenReader();
        if (!reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document))
        {
            return false;
        }

        document.Dispose();
        return true;
    }

    private static void Check(IndexedNode node)
    {
        var counters = new List<(string Id, string Collection, string Name, long Value)>();
        var names = new List<string>();
        string? city = null;
        using (var reader = node.Database().OpenReader())
        using (var documents = reader.SeekByIdPrefix([]))
        {
            while (documents.MoveNext())
            {
                var view = documents.View;
                string id = Encoding.UTF8.GetString(view.Id);
                string collection = Encoding.UTF8.GetString(view.Collection);
                var own = new List<string>();
                var all = new CounterNames(view.CounterNames);
                while (all.MoveNext())
                {
                    string name = Encoding.UTF8.GetString(all.Name);
                    own.Add($"\"{name}\"");
                    counters.Add((id, collection, name, reader.ReadCounter(view.Id, all.Name, out _)!.Value));
                }

                if (collection is "Users")
                {
                    names.Add($$"""{"id":"{{id}}","names":[{{string.Join(',', own)}}]}""");
                }

                city = collection is "Companies" ? Encoding.UTF8.GetString(view.Body)["\"city\":".Length..] : city;
            }
        }

        Expect(
            Likes,
            counters
                .Where(static c =>
                    c.Collection is "Users" && c.Name.Equals("likes", StringComparison.OrdinalIgnoreCase)
                )
                .Select(static c => $$"""{"user":"{{c.Id}}","value":{{c.Value}},"name":"{{c.Name}}"}""")
        );
        Expect(
            All,
            counters
                .Where(static c => c.Collection is "Users")
                .Select(c =>
                    $$"""{"user":"{{c.Id}}","value":{{c.Value}},"name":"{{c.Name}}","city":{{city ?? "null"}}}"""
                )
        );
        Expect(
            Sums,
            counters
                .GroupBy(static c => c.Name.ToLowerInvariant(), StringComparer.Ordinal)
                .Select(static group =>
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $$"""{"name":"{{group.Key}}","value":{{group.Sum(static c => c.Value)}}}"""
                    )
                )
        );
        Expect(Names, names);

        void Expect(string index, IEnumerable<string> rows) =>
            Assert.Equal(rows.Order(StringComparer.Ordinal), node.ReadRows(index));
    }
}
