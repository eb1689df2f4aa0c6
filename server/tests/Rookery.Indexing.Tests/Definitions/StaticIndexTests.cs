using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using Rookery.Fixtures;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Mapping;
using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Simulation;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>The content of static indexes equals a computation from their documents.</summary>
public sealed class StaticIndexTests
{
    private static readonly (string Name, string Definition, Func<ShopModel, IEnumerable<string>> Expected)[] Indexes =
    [
        (
            "Users/ByCity",
            """{"Maps":["from u in docs.Users let c = LoadDocument<Company>(u.company, \"Companies\") select new { u.name, city = c.city }"],"Fields":{"__all_fields":{"Storage":"Yes"}},"Name":"Users/ByCity"}""",
            static shop =>
                shop.Users.Values.Select(user =>
                    ShopModel.Row(("name", user.Name), ("city", shop.CityOf(user.Company)))
                )
        ),
        (
            "Orders/Totals",
            """{"Maps":["map('Orders', o => o.lines.map(l => ({ product: l.p, count: 1, quantity: l.q })))"],"Reduce":"groupBy(x => x.product).aggregate(g => ({ product: g.key, count: g.values.reduce((n, v) => n + v.count, 0), quantity: g.values.reduce((n, v) => n + v.quantity, 0) }))","Name":"Orders/Totals"}""",
            static shop =>
                shop.Orders.Values.SelectMany(static lines => lines)
                    .GroupBy(static line => line.Product, StringComparer.Ordinal)
                    .Select(static group =>
                        ShopModel.Row(
                            ("product", group.Key),
                            ("count", group.Count()),
                            ("quantity", group.Sum(static line => line.Quantity))
                        )
                    )
        ),
        (
            "Cities",
            """{"Maps":["docs.Users.Select(u => new { city = LoadDocument(u.company, \"Companies\").city ?? \"none\", count = 1 })"],"Reduce":"from r in results group r by new { r.city } into g select new { g.Key.city, count = g.Sum(x => x.count) }","Name":"Cities"}""",
            static shop =>
                shop.Users.Values.GroupBy(user => shop.CityOf(user.Company) ?? "none", StringComparer.Ordinal)
                    .Select(static group => ShopModel.Row(("city", group.Key), ("count", group.Count())))
        ),
        (
            "Names",
            """{"Maps":["map('Users', u => ({ name: u.name }))","from c in docs.Companies where c.city != \"Ulm\" select new { name = c.city }","from o in docs.Orders from l in o.lines select new { name = l.p }"],"Fields":{"name":{"Storage":"Yes","Indexing":"Search"}},"Name":"Names"}""",
            static shop =>
                shop.Users.Values.Select(static user => user.Name)
                    .Concat(shop.Companies.Values.Where(static city => city is not "Ulm"))
                    .Concat(shop.Orders.Values.SelectMany(static lines => lines).Select(static line => line.Product))
                    .Select(static name => ShopModel.Row(("name", name)))
        ),
    ];

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Indexes_match_the_documents_across_crashes(int seed)
    {
        var random = new Random(seed);
        var shop = new ShopModel(random);
        var node = IndexedNode.New();
        foreach (var (name, definition, _) in Indexes)
        {
            node.Define(definition, name);
        }

        for (int step = 0; step < 240; step++)
        {
            shop.Change(node);
            for (int work = random.Next(4); work > 0; work--)
            {
                node.Host.Step();
            }

            if (random.Next(12) == 0)
            {
                node = node.Restart(random.Next(2) == 0 ? random.Next() : null);
            }

            if (random.Next(40) == 0)
            {
                Assert.True(node.Host.Reset(node.Database(), Indexes[random.Next(Indexes.Length)].Name));
            }

            if (step % 30 == 29)
            {
                node.SettleAll();
                Check(node, shop, $"seed {seed}, step {step}");
            }
        }

        Assert.Empty(node.Troubles);
        node.Dispose();
    }

    [Fact]
    public void After_a_power_cut_at_any_time_indexes_match_the_documents() =>
        new CrashSearch { Points = 60, Runs = 2 }.Verify(
            Work,
            static (image, _, _) =>
            {
                using var node = IndexedNode.Open(image);
                if (!node.Store.Databases.TryGet("shop", out _))
                {
                    return;
                }

                node.SettleAll();
                Check(node, ShopModel.Read(node), "reopened");
                node.Put("users/0", "\"name\":\"last\",\"company\":\"companies/1\"");
                node.Put("companies/1", "\"city\":\"Rom\"", "Companies");
                node.SettleAll();
                Check(node, ShopModel.Read(node), "after more changes");
            }
        );

    [Fact]
    public void An_index_with_damaged_rows_is_built_again_and_other_indexes_continue()
    {
        var node = IndexedNode.New();
        node.Define(Indexes[1].Definition, "totals");
        node.Define(Indexes[0].Definition, "users");
        for (int i = 0; i < 40; i++)
        {
            node.Put($"orders/{i}", $"\"lines\":[{{\"p\":\"p{i % 8}\",\"q\":1}}]", "Orders");
        }

        node.SettleAll();

        // The restart empties the cache of blocks, so that the damage is read.
        node = node.Restart();
        node.SettleAll();
        string rows = IndexedNode.Directory + "/indexes/1/1/rows";
        string[] runs = [.. node.Disk.List(rows).Where(static name => name.EndsWith(".run", StringComparison.Ordinal))];
        Assert.NotEmpty(runs);
        foreach (string name in runs)
        {
            node.Disk.Rot($"{rows}/{name}", offset: 40, mask: 0x10);
        }

        for (int i = 0; i < 8; i++)
        {
            node.Put($"orders/{40 + i}", $"\"lines\":[{{\"p\":\"p{i}\",\"q\":1}}]", "Orders");
        }

        node.Put("users/1", "\"name\":\"Anna\"");
        node.SettleAll(); // finds the damage
        node.SettleAll(); // builds the index again
        Assert.Equal(
            8,
            node.ReadRows("totals").Count(static row => row.Contains("\"count\":6", StringComparison.Ordinal))
        );
        Assert.Single(node.ReadRows("users"));
        node.Dispose();
    }

    [Fact]
    public void An_index_whose_entries_the_disk_refuses_is_opened_once_the_disk_accepts_them()
    {
        var node = IndexedNode.New();
        node.Define(Indexes[1].Definition, "totals");
        node.Put("orders/1", "\"lines\":[{\"p\":\"a\",\"q\":1}]", "Orders");
        node.SettleAll();

        // The rows are written, but not their entries: opening the index writes the entries.
        node.Disk.Inject(
            new DiskFault(AtCall: 1, Errno.InputOutput)
            {
                Calls = DiskCalls.Changing,
                PathContains = "/indexes/1/1/segment-",
                Sticky = true,
            }
        );
        node.Put("orders/2", "\"lines\":[{\"p\":\"a\",\"q\":2}]", "Orders");
        node.SettleAll();
        Assert.Equal(["""{"product":"a","count":1,"quantity":1}"""], node.ReadRows("totals"));
        node = node.Restart();
        node.SettleAll();
        Assert.Contains("is not maintained on this node", Assert.Single(node.Troubles), StringComparison.Ordinal);
        Assert.Equal(0, RowsMemoryOf(node).UsedBytes);

        node.Disk.ClearFaults();
        node.Time.Advance(IndexedNode.SmallSteps.RestAfterDamage);
        node.SettleAll();
        Assert.Equal(["""{"product":"a","count":2,"quantity":3}"""], node.ReadRows("totals"));
        Assert.Equal(0, node.Host.DocumentsRead);
        node.Dispose();
        Assert.Equal(0, RowsMemoryOf(node).UsedBytes);
    }

    /// <summary>All map/reduce indexes share the memory for rows: what one does not use, the others can.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Memory_of_unused_rows_is_released(bool isTrimRequested)
    {
        using var node = IndexedNode.New();
        node.Define(Indexes[1].Definition, "totals");
        node.Define(Indexes[2].Definition, "cities");
        for (int round = 0; round < 2; round++)
        {
            // The second round reads the rows of the first.
            for (int i = 0; i < 40; i++)
            {
                node.Put($"orders/{i}", $"\"lines\":[{{\"p\":\"p{i % 8}\",\"q\":{round}}}]", "Orders");
                node.Put($"users/{i}", $"\"name\":\"n{round}\"");
            }

            node.SettleAll();
        }

        const int Segment = 1 << 20;
        Assert.InRange(RowsMemoryOf(node).UsedBytes, 2 * Segment, long.MaxValue);
        if (isTrimRequested)
        {
            node.Host.TrimMemory();
            node.Settle();
        }
        else
        {
            for (int minute = 0; minute < 2; minute++)
            {
                node.Time.Advance(TimeSpan.FromMinutes(1));
                node.Settle();
            }
        }

        Assert.InRange(RowsMemoryOf(node).UsedBytes, 0, Segment - 1);
        node.Put("orders/1", "\"lines\":[{\"p\":\"p1\",\"q\":7}]", "Orders");
        node.SettleAll();
        Assert.Contains("""{"product":"p1","count":5,"quantity":11}""", node.ReadRows("totals"));
    }

    /// <summary>
    /// Segments of format version 1 are complete, but some of their terms cannot be found: such an index is rebuilt,
    /// including the rows of a map/reduce index.
    /// </summary>
    [Theory]
    [InlineData("/indexes/", 4)]
    [InlineData("/loads/", 2)]
    public void An_index_of_an_older_format_is_built_again(string folder, int indexes)
    {
        var node = IndexedNode.New();
        foreach (var (name, definition, _) in Indexes)
        {
            node.Define(definition, name);
        }

        var shop = new ShopModel(new Random(5));
        for (int step = 0; step < 60; step++)
        {
            shop.Change(node);
        }

        node.SettleAll();
        foreach (
            string path in node.Disk.Files.Where(path =>
                path.Contains("/segment-", StringComparison.Ordinal) && path.Contains(folder, StringComparison.Ordinal)
            )
        )
        {
            MakeOlder(node.Disk, path);
        }

        node = node.Restart();
        node.SettleAll();
        Assert.Equal(indexes, node.Troubles.Count);
        Assert.All(node.Troubles, static trouble => Assert.Contains("is rebuilt: ", trouble, StringComparison.Ordinal));
        Assert.All(
            node.Troubles,
            static trouble => Assert.Contains("its format version is 1", trouble, StringComparison.Ordinal)
        );
        Check(node, shop, "built again");

        node = node.Restart();
        node.SettleAll();
        Assert.Empty(node.Troubles);
        Check(node, shop, "restarted");
        node.Dispose();
    }

    [Fact]
    public void Many_documents_that_loaded_the_same_document_are_mapped_again_when_it_changes()
    {
        using var node = IndexedNode.New();
        node.Define(Indexes[0].Definition, "a");
        node.Put("companies/1", "\"city\":\"Ulm\"", "Companies");
        for (int i = 0; i < 100; i++)
        {
            node.Put($"users/{i}", $"\"name\":\"{i}\",\"company\":\"COMPANIES/{1 + (i % 2)}\"");
        }

        node.SettleAll();
        Assert.Equal(50, node.ReadRows("a").Count(static row => row.Contains("Ulm", StringComparison.Ordinal)));
        node.Put("companies/2", "\"city\":\"Bonn\"", "Companies");
        node.SettleAll();
        Assert.Equal(50, node.ReadRows("a").Count(static row => row.Contains("Bonn", StringComparison.Ordinal)));
        node.Delete("Companies/1");
        node.SettleAll();
        Assert.Equal(50, node.ReadRows("a").Count(static row => !row.Contains("city", StringComparison.Ordinal)));
        Assert.False(node.Status("a").IsStale);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_changed_definition_that_fails_on_the_documents_replaces_no_index(bool isRestarted)
    {
        // One step reads all documents, so an index that fails in it has read as far as the serving index.
        var options = IndexedNode.SmallSteps with
        {
            DocumentsPerStep = 256,
            BytesPerStep = 1 << 20,
        };
        var node = IndexedNode.New(options);
        for (int i = 0; i < 120; i++)
        {
            node.Put($"users/{i}", $"\"n\":{i}");
        }

        node.Define("""{"Maps":["docs.Users.Select(u => new { u.n })"]}""", "a");
        node.SettleAll();
        node.Define("""{"Maps":["docs.Users.Select(u => new { n = u.n.ToLower() })"]}""", "a");
        node.SettleAll();
        if (isRestarted)
        {
            node = node.Restart(options: options);
            node.SettleAll();
        }

        Assert.Equal(1, node.Serving("a").Record.Number);
        var failed = node.Host.ReadStatus(node.Database()).Single(static status => status.IsReplacement);
        Assert.Equal(
            (IndexState.Error, true),
            (failed.State, failed.Trouble!.Contains("could not be indexed", StringComparison.Ordinal))
        );
        Assert.StartsWith(
            "The changed definition of the index a of database shop: ",
            Assert.Single(node.Troubles),
            StringComparison.Ordinal
        );
        Assert.Empty(node.Host.ReadErrors(node.Database(), "a"));
        Assert.Equal(
            (100, 100, (TimeSpan?)null),
            (
                failed.ErrorCount,
                node.Host.ReadErrors(node.Database(), "a", ofReplacement: true).Count,
                failed.Progress.TimeLeft
            )
        );

        node.Define("""{"Maps":["docs.Users.Select(u => new { n = u.n + 1 })"]}""", "a");
        node.SettleAll();
        Assert.Equal((3, 120), (node.Serving("a").Record.Number, node.Status("a").Documents));
        node.Dispose();
    }

    [Fact]
    public void A_deleted_index_with_rows_and_loads_leaves_no_files()
    {
        var node = IndexedNode.New();
        node.Define(Indexes[2].Definition, "a");
        node.Put("users/1", "\"name\":\"a\"");
        node.SettleAll();
        Assert.Equal(
            ["identity", "loads", "manifest", "rows"],
            node.Disk.List(IndexedNode.Directory + "/indexes/1/1")
                .Where(static name => !name.StartsWith("segment", StringComparison.Ordinal))
        );
        node.ChangeIndexes(static writer => writer.Delete("a"));
        node.SettleAll();
        Assert.Empty(node.Disk.List(IndexedNode.Directory + "/indexes/1"));
        node.Dispose();
    }

    /// <summary>
    /// The stored index was written by older rules: reduce keys had the form of the group's first document.
    /// </summary>
    [Fact]
    public void An_index_of_an_older_content_version_is_built_again()
    {
        var node = IndexedNode.New();
        node.Define(Indexes[1].Definition, "totals");
        node.Put("orders/1", "\"lines\":[{\"p\":\"a\",\"q\":1}]", "Orders");
        node.SettleAll();
        node = node.Restart();
        node.SettleAll();
        Assert.Equal(0, node.Host.DocumentsRead);
        string identity = IndexedNode.Directory + "/indexes/1/1/identity";
        // Unlike today's identities, it lacks the content version.
        string identityText = $"rookery index 1 of {node.Database().HistoryId}\n";
        node.Disk.Delete(identity);
        using (var file = node.Disk.Open(identity, DiskOpen.CreateNew))
        {
            file.Write(
                Encoding.ASCII.GetBytes(identityText + Rookery.Documents.Nodes.DataDirectory.CheckLine(identityText)),
                0
            );
            file.Sync();
        }

        node.Disk.SyncDirectory(IndexedNode.Directory + "/indexes/1/1");
        node = node.Restart();
        node.SettleAll();
        Assert.Equal(1, node.Host.DocumentsRead);
        Assert.Equal(["""{"product":"a","count":1,"quantity":1}"""], node.ReadRows("totals"));
        node.Dispose();
    }

    private static (SimulatedDisk Disk, int Seed) Work(int seed)
    {
        using var node = IndexedNode.New();
        foreach (var (name, definition, _) in Indexes)
        {
            node.Define(definition, name);
        }

        var shop = new ShopModel(new Random(seed));
        for (int step = 0; step < 60; step++)
        {
            shop.Change(node);
            if (step % 4 == 3)
            {
                node.SettleAll();
            }
        }

        return (node.Disk, seed);
    }

    /// <summary>Asserts that the indexes equal a computation from the documents.</summary>
    private static void Check(IndexedNode node, ShopModel shop, string context)
    {
        foreach (var (name, _, expected) in Indexes)
        {
            if (node.Host.ReadPosition(node.Database(), name) is not null)
            {
                string[] rows = [.. expected(shop).Order(StringComparer.Ordinal)];
                Assert.True(
                    node.ReadRows(name).SequenceEqual(rows, StringComparer.Ordinal),
                    $"{context}, {name}: {string.Join(' ', node.ReadRows(name))} and not "
                        + $"{string.Join(' ', rows)}; "
                        + $"{string.Join(' ', node.Host.ReadErrors(node.Database(), name))}"
                );
            }
        }
    }

    [Theory]
    [InlineData("// last\n")]
    [InlineData("/* last */ ")]
    public void A_reduce_after_a_comment_is_opened_at_a_restart_and_a_refused_one_is_not(string comment)
    {
        const string Map = "map('Users', u => ({ k: u.k, d: u.d }))";
        string reduce =
            comment
            + "groupBy(x => x.k).aggregate(g => ({ k: g.key, d: g.values.reduce((l, v) => "
            + "v.d > l ? v.d : l, 'none') }))";
        string refused = comment + "groupBy(x => x.k).aggregate(g => ({ k: g.key, d: 'none' + g.values.length }))";
        var node = IndexedNode.New();
        node.Put("users/1", "\"k\":\"a\",\"d\":\"z\"");
        foreach (var (name, text) in ((string, string)[])[("a", reduce), ("b", refused)])
        {
            byte[] stored = new StaticIndexDefinition([Map], text, options: [], configuration: []).ToJson();
            node.ChangeIndexes(writer => writer.Put(name, stored, settings: default));
        }

        node = node.Restart();
        node.SettleAll();
        Assert.Equal(["""{"k":"a","d":"z"}"""], node.ReadRows("a"));
        string trouble = Assert.Single(node.Troubles);
        Assert.Contains("The index b of database shop is not maintained", trouble, StringComparison.Ordinal);
        node.Dispose();
    }

    // Writes version 1 into the first page of a segment, with a matching checksum.
    private static void MakeOlder(SimulatedDisk disk, string path)
    {
        const int VersionOffset = 8;
        byte[] page = new byte[SegmentFormat.StoredPageBytes];
        using (var file = disk.Open(path, DiskOpen.Read))
        {
            page = page[..file.Read(page, offset: 0)];
        }

        byte[] older = [.. page];
        older[VersionOffset] = 1;
        long fileId = long.Parse(path[(path.LastIndexOf('-') + 1)..], CultureInfo.InvariantCulture);
        BinaryPrimitives.WriteUInt32LittleEndian(
            older.AsSpan(older.Length - sizeof(uint)),
            SegmentFormat.ChecksumOf(fileId, page: 0, older.AsSpan(0, older.Length - sizeof(uint)))
        );
        for (int offset = 0; offset < page.Length; offset++)
        {
            disk.Rot(path, offset, (byte)(page[offset] ^ older[offset]));
        }
    }

    private static MemoryShare RowsMemoryOf(IndexedNode node) =>
        node.Memory.Shares.Single(static share => share.Name is "index rows");
}
