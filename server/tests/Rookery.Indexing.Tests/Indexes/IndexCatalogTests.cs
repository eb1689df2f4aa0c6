using System.Globalization;
using Rookery.Documents.Commands;
using Rookery.Documents.Indexes;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>The indexes of a database, as they are defined, deleted, paused, rebuilt and opened at a start.</summary>
public sealed class IndexCatalogTests
{
    // Contains a folder "DATABASE NUMBER/INDEX NUMBER" for each index.
    private const string Folders = IndexedNode.Directory + "/indexes";

    private static readonly AutoIndexDefinition ByName = new(
        "Users",
        [new AutoIndexField(["name"], AutoIndexFieldUses.None)]
    );
    private static readonly AutoIndexDefinition ByAge = new(
        "Users",
        [new AutoIndexField(["age"], AutoIndexFieldUses.None)]
    );

    [Fact]
    public void An_index_continues_after_a_restart_at_its_position()
    {
        var node = CreateNodeWithUsers(documents: 50);
        node.Define("a", ByName);
        node.SettleAll();
        node.Put("more", "\"name\":\"x\"");
        // Settle maps the document but does not write its entry, so the restarted node must read this document again.
        node.Settle();
        node = node.Restart();
        node.SettleAll();
        Assert.Equal(1, CatalogOf(node).Feeder.DocumentsRead);
        node.Check("a", ByName);
        node.Dispose();
    }

    [Fact]
    public void A_deleted_index_and_a_deleted_database_leave_no_files()
    {
        using var node = CreateNodeWithUsers(documents: 5);
        node.CreateDatabase("other");
        node.Define("a", ByName);
        node.Define("b", ByName);
        node.Define("a", ByName, "other");
        node.SettleAll();
        Assert.Equal(["1/1", "1/2", "2/1"], FoldersOf(node));

        node.ChangeIndexes(static writer => writer.Delete("A"));
        node.SettleAll();
        Assert.Equal(["1/2", "2/1"], FoldersOf(node));
        Assert.Equal("b", Assert.Single(node.Host.ReadStatus(node.Database())).Name);
        node.Run(CommandEncoder.DeleteDatabases(["other"]));
        node.SettleAll();
        Assert.Equal(["1/2"], FoldersOf(node));
        node.Define("a", ByName);
        node.SettleAll();
        Assert.Equal(["1/2", "1/3"], FoldersOf(node));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_deleted_index_does_not_answer_for_a_new_index_of_the_same_name(int definitions)
    {
        using var node = CreateNodeWithUsers(documents: 5);
        node.Define(DefinitionOfValue(0), "x");
        node.Define(DefinitionOfValue(0), "y");
        node.SettleAll();
        var deleted = node.Serving("x");
        var kept = node.Serving("y");
        node.ChangeIndexes(static writer => writer.Delete("X"));
        for (int value = 1; value <= definitions; value++)
        {
            node.Define(DefinitionOfValue(value), "x");
        }

        Assert.False(node.Host.TryGetSlot(node.Database(), "x", out _));
        Assert.Equal("y", Assert.Single(node.Host.ReadStatus(node.Database())).Name);
        Assert.Same(kept, node.Serving("y"));
        node.Host.Follow();
        Assert.True(node.Host.TryGetSlot(node.Database(), "x", out var slot));
        Assert.NotSame(deleted, slot.Serving);
        Assert.Null(slot.Replacement);
        Assert.Same(kept, node.Serving("y"));
        node.SettleAll();
        Assert.Equal(5, node.ReadRows("x").Count);
        Assert.False(node.Status("x").IsStale);
    }

    [Fact]
    public void An_index_that_is_defined_again_twice_answers_until_the_last_definition_has_caught_up()
    {
        using var node = CreateNodeWithUsers(documents: 5);
        node.Define(DefinitionOfValue(0), "x");
        node.SettleAll();
        var first = node.Serving("x");
        node.Define(DefinitionOfValue(1), "x");
        node.Define(DefinitionOfValue(2), "x");
        Assert.Same(first, node.Serving("x"));
        node.Host.Follow();
        Assert.Same(first, node.Serving("x"));
        node.SettleAll();
        Assert.NotSame(first, node.Serving("x"));
    }

    [Fact]
    public void A_start_removes_the_folders_of_deleted_indexes_and_keeps_unknown_folders()
    {
        var node = CreateNodeWithUsers(documents: 5);
        node.Define("a", ByName);
        node.SettleAll();
        node.ChangeIndexes(static writer => writer.Delete("a"));
        node.Disk.CreateDirectory(Folders + "/1/7");
        node.Disk.CreateDirectory(Folders + "/9/1");
        node = node.Restart();
        node.SettleAll();
        Assert.Equal(["1/7", "9/1"], FoldersOf(node));
        node.Dispose();
    }

    [Theory]
    [InlineData("manifest")]
    [InlineData("identity")]
    [InlineData(null)]
    public void A_damaged_or_missing_folder_is_built_again(string? damaged)
    {
        var node = CreateNodeWithUsers(documents: 30);
        node.Define("a", ByName);
        node.SettleAll();
        if (damaged is not null)
        {
            node.Disk.Rot($"{Folders}/1/1/{damaged}", offset: 9, mask: 0x10);
        }
        else
        {
            foreach (string name in node.Disk.List(Folders + "/1/1"))
            {
                node.Disk.Delete($"{Folders}/1/1/{name}");
            }

            node.Disk.DeleteDirectory(Folders + "/1/1");
        }

        node = node.Restart();
        node.SettleAll();
        node.Check("a", ByName);
        Assert.Equal(30, CatalogOf(node).Feeder.DocumentsRead);
        node.Dispose();
    }

    [Fact]
    public void An_index_of_another_history_of_the_database_is_rebuilt()
    {
        using var node = CreateNodeWithUsers(documents: 10);
        node.Define("a", ByName);
        node.SettleAll();
        node.Run(CommandEncoder.RenewHistory(node.Database().Number, HistoryId.Create()));
        node.SettleAll();
        Assert.Equal(10, CatalogOf(node).Feeder.DocumentsRead);
        node.Check("a", ByName);
    }

    [Fact]
    public void A_paused_index_is_stale_until_it_is_resumed_and_a_disabled_one_until_it_is_enabled()
    {
        using var node = CreateNodeWithUsers(documents: 5);
        node.Define("a", ByName);
        node.SettleAll();
        Assert.True(node.Host.SetPaused(node.Database(), "A", isPaused: true));
        node.Put("x", "\"name\":1");
        node.SettleAll();
        Assert.Equal((IndexState.Paused, true), (node.Status("a").State, node.Status("a").IsStale));
        node.Host.SetPaused(node.Database(), false);
        node.SettleAll();
        Assert.Equal((IndexState.Normal, false), (node.Status("a").State, node.Status("a").IsStale));

        node.ChangeIndexes(static writer => writer.Configure("a", new IndexSettingsChange(IsDisabled: true)));
        node.Put("y", "\"name\":1");
        node.SettleAll();
        Assert.Equal((IndexState.Disabled, true), (node.Status("a").State, node.Status("a").IsStale));
        node.ChangeIndexes(static writer => writer.Configure("a", new IndexSettingsChange(IsDisabled: false)));
        node.SettleAll();
        node.Check("a", ByName);
        Assert.False(node.Host.SetPaused(node.Database(), "none", isPaused: true));
    }

    [Fact]
    public void A_complete_index_does_not_become_stale_when_it_is_disabled_or_another_one_is_defined()
    {
        using var node = CreateNodeWithUsers(documents: 5);
        node.Define("a", ByName);
        node.Define("b", ByName);
        node.SettleAll();
        node.Host.SetPaused(node.Database(), "b", isPaused: true);
        node.ChangeIndexes(static writer => writer.Configure("a", new IndexSettingsChange(IsDisabled: true)));
        node.Define("c", ByAge);
        node.SettleAll();
        Assert.Equal((IndexState.Disabled, false), (node.Status("a").State, node.Status("a").IsStale));
        Assert.Equal((IndexState.Paused, false), (node.Status("b").State, node.Status("b").IsStale));
        Assert.Equal(node.Status("a").Progress.Total, node.Status("a").Progress.Done);

        node.Delete("users/1");
        node.SettleAll();
        Assert.True(node.Status("a").IsStale);
        Assert.True(node.Status("b").IsStale);
        node.ChangeIndexes(static writer => writer.Configure("a", new IndexSettingsChange(IsDisabled: false)));
        node.SettleAll();
        node.Check("a", ByName);
    }

    [Fact]
    public void A_pause_during_a_build_loses_no_document()
    {
        using var node = CreateNodeWithUsers(documents: 100);
        node.Define("a", ByName);
        node.Define("b", ByAge);
        for (int i = 0; i < 5; i++)
        {
            node.Host.Step();
        }

        node.Host.SetPaused(node.Database(), "a", isPaused: true);
        node.Delete("users/0");
        node.Put("users/1", "\"name\":\"other\"");
        node.SettleAll();
        node.Check("b", ByAge);
        Assert.Equal(0, node.Serving("a").Position);
        node.Host.SetPaused(node.Database(), "a", isPaused: false);
        node.SettleAll();
        node.Check("a", ByName);
        // The indexes share the reads before the pause, and each reads the rest, so together they read more than 100
        // documents and fewer than 200.
        Assert.InRange(CatalogOf(node).Feeder.DocumentsRead, low: 105, high: 190);
    }

    [Fact]
    public void An_interrupted_build_starts_over_and_keeps_no_document_deleted_meanwhile()
    {
        var options = IndexedNode.SmallSteps with { PendingBytes = 0, MinPendingBytes = 1 };
        var node = CreateNodeWithUsers(documents: 40);
        node = node.Restart(options: options);
        node.Define("a", ByName);
        for (int i = 0; i < 4; i++)
        {
            node.Host.Step();
        }

        string walked = StoreContents.Of(node.StoreOf("a")).Keys.First();
        Assert.Equal(0, node.StoreOf("a").Watermark);
        node.Delete(walked);
        node = node.Restart(powerLossSeed: 1, options);
        node.SettleAll();
        node.Check("a", ByName);
        Assert.Equal(39, node.Status("a").Documents);
        node.Dispose();
    }

    [Fact]
    public void A_reset_builds_from_the_beginning()
    {
        using var node = CreateNodeWithUsers(documents: 20);
        node.Define("a", ByName);
        node.SettleAll();
        Assert.True(node.Host.Reset(node.Database(), "a"));
        node.SettleAll();
        Assert.Equal(40, CatalogOf(node).Feeder.DocumentsRead);
        node.Check("a", ByName);
        Assert.False(node.Host.Reset(node.Database(), "none"));
    }

    [Fact]
    public void The_replacement_of_a_paused_index_is_paused_too()
    {
        var node = CreateNodeWithUsers(documents: 10);
        node.Define("a", ByName);
        node.SettleAll();
        Assert.True(node.Host.SetPaused(node.Database(), "a", isPaused: true));
        node.Define("a", ByAge);
        node.SettleAll();
        Assert.All(
            node.Host.ReadStatus(node.Database()),
            static status => Assert.Equal(IndexState.Paused, status.State)
        );
        Assert.Equal(1, node.Serving("a").Record.Number);
        Assert.True(node.Host.SetPaused(node.Database(), "a", isPaused: false));
        node.SettleAll();
        Assert.Equal(2, node.Serving("a").Record.Number);
        node.Check("a", ByAge);
        node.Dispose();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void The_index_of_the_old_definition_answers_until_the_new_one_has_caught_up(bool isRestartedBetween)
    {
        var node = CreateNodeWithUsers(documents: 100);
        node.Define("a", ByName);
        node.SettleAll();
        node.Define("A", ByAge);
        node.Host.Step();
        node.Host.Step();
        if (isRestartedBetween)
        {
            node = node.Restart();
            node.Host.Step();
        }

        Assert.Equal(1, node.Serving("a").Record.Number);
        node.Check("a", ByName);
        Assert.Equal(
            [false, true],
            node.Host.ReadStatus(node.Database()).Select(static status => status.IsReplacement)
        );
        // The etag that queries see never goes back: the old index reads changes while the new one is built, and is
        // ahead of it at first.
        long lastVisible = 0;
        for (int i = 0; node.Host.Step(); i++)
        {
            // Writes during the first steps only, so that the new index can catch up.
            if (i < 20)
            {
                node.Put($"x/{i}", "\"name\":1,\"age\":2");
            }

            Assert.True(node.Serving("a").VisibleEtag >= lastVisible, $"the visible etag fell in step {i}");
            lastVisible = node.Serving("a").VisibleEtag;
            node.Time.Advance(IndexedNode.SmallSteps.PendingAge);
        }

        node.SettleAll();
        Assert.Equal(2, node.Serving("a").Record.Number);
        node.Check("a", ByAge);
        Assert.Equal(["1/2"], FoldersOf(node));

        node = node.Restart();
        node.SettleAll();
        Assert.Equal(2, node.Serving("a").Record.Number);
        Assert.Single(node.Host.ReadStatus(node.Database()));
        node.Dispose();
    }

    [Fact]
    public void A_definition_of_an_unknown_kind_is_reported_once_and_other_indexes_continue()
    {
        using var node = CreateNodeWithUsers(documents: 5);
        node.ChangeIndexes(static writer => writer.Put("odd", "{\"Type\":\"Odd\"}"u8, settings: default));
        node.ChangeIndexes(static writer => writer.Put("none", "["u8, settings: default));
        node.Define("a", ByName);
        node.SettleAll();
        Assert.Equal(2, node.Troubles.Count);
        Assert.Contains(
            "odd",
            node.Troubles.Single(static trouble =>
                trouble.Contains("does not know its kind", StringComparison.Ordinal)
            ),
            StringComparison.Ordinal
        );
        node.Check("a", ByName);
    }

    [Fact]
    public void An_index_that_the_disk_refuses_to_open_is_kept_and_opened_later()
    {
        var node = CreateNodeWithUsers(documents: 60);
        node.Define("a", ByName);
        node.SettleAll();
        node.Disk.Inject(
            new DiskFault(AtCall: 1, Errno.InputOutput)
            {
                Calls = DiskCalls.Open,
                PathContains = "/segment-",
                Sticky = true,
            }
        );
        node = node.Restart();
        node.SettleAll();
        Assert.Contains("is not maintained on this node", Assert.Single(node.Troubles), StringComparison.Ordinal);
        Assert.Empty(node.Host.ReadStatus(node.Database()));
        Assert.Equal(["1/1"], FoldersOf(node));
        Assert.True(node.Host.HasPending, "the index waits to be opened again");

        node.Disk.ClearFaults();
        node.Time.Advance(IndexedNode.SmallSteps.RestAfterDamage);
        node.SettleAll();
        node.Check("a", ByName);
        Assert.Equal(0, CatalogOf(node).Feeder.DocumentsRead);
        node.Dispose();
    }

    [Fact]
    public void A_folder_is_deleted_with_the_directories_in_it()
    {
        using var node = CreateNodeWithUsers(documents: 3);
        node.Define("a", ByName);
        node.SettleAll();
        node.Disk.CreateDirectory($"{Folders}/1/1/rows/deep");
        node.Disk.Open($"{Folders}/1/1/rows/deep/file", DiskOpen.CreateNew).Dispose();
        node.ChangeIndexes(static writer => writer.Delete("a"));
        node.SettleAll();
        Assert.Empty(FoldersOf(node));
    }

    /// <summary>
    /// Random documents, definitions, steps, restarts and power cuts: whenever all work is done, each index matches its
    /// documents.
    /// </summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    [InlineData(6)]
    public void Indexes_match_the_documents_across_crashes(int seed)
    {
        var random = new Random(seed);
        string[] databases = ["shop", "other"];
        string?[] collections = ["Users", "Orders", null];
        string[] fields = ["name", "age", "tags"];
        var defined = new Dictionary<(string Database, string Name), AutoIndexDefinition>();
        var node = IndexedNode.New();
        node.CreateDatabase("other");
        for (int round = 0; round < 25; round++)
        {
            for (int i = random.Next(40); i >= 0; i--)
            {
                ChangeDocument(node, random, databases[random.Next(2)]);
                if (random.Next(3) == 0)
                {
                    node.Host.Step();
                }
            }

            string database = databases[random.Next(2)];
            string name = ((char)('a' + random.Next(4))).ToString();
            switch (random.Next(9))
            {
                case 0 or 1 or 2:
                    var definition = new AutoIndexDefinition(
                        collections[random.Next(3)],
                        fields
                            .Where(_ => random.Next(2) == 0)
                            .Append("name")
                            .Distinct()
                            .Select(static field => new AutoIndexField([field], AutoIndexFieldUses.Exact))
                    );
                    node.Define(name, definition, database);
                    defined[(database, name)] = definition;
                    break;
                case 3:
                    node.ChangeIndexes(writer => writer.Delete(name), database);
                    defined.Remove((database, name));
                    break;
                case 4:
                    node = node.Restart();
                    break;
                case 5:
                    node = node.Restart(random.NextInt64());
                    break;
                case 6:
                    node.Host.Reset(node.Database(database), name);
                    break;
                case 7:
                    node.Host.SetPaused(node.Database(database), name, isPaused: true);
                    break;
                default:
                    node.Time.Advance(TimeSpan.FromSeconds(random.Next(8)));
                    break;
            }

            if (random.Next(4) == 0)
            {
                Array.ForEach(databases, paused => node.Host.SetPaused(node.Database(paused), false));
                node.SettleAll();
                foreach (var ((checkedDatabase, index), expected) in defined)
                {
                    node.Check(
                        index,
                        expected,
                        checkedDatabase,
                        string.Create(CultureInfo.InvariantCulture, $"seed {seed} round {round}")
                    );
                    Assert.False(node.Status(index, checkedDatabase).IsStale);
                }
            }
        }

        node.Dispose();
    }

    private static void ChangeDocument(IndexedNode node, Random random, string database)
    {
        string id = $"d/{random.Next(40)}";
        if (random.Next(4) == 0)
        {
            node.Delete(id, database);
        }
        else
        {
            string[] members =
            [
                $"\"name\":\"n{random.Next(5)}\"",
                $"\"age\":{random.Next(9)}",
                $"\"tags\":[{random.Next(3)},\"{random.Next(3)}\"]",
            ];
            node.Put(
                random.Next(2) == 0 ? id : id.ToUpperInvariant(),
                string.Join(',', members.Where(_ => random.Next(3) > 0)),
                random.Next(4) == 0 ? "Orders" : "Users",
                database
            );
        }
    }

    private static string DefinitionOfValue(int value) =>
        "{\"Maps\":[\"map('Users', u => ({ v: "
        + value.ToString(CultureInfo.InvariantCulture)
        + " }))\"],\"Fields\":{\"v\":{\"Storage\":\"Yes\"}}}";

    private static IndexedNode CreateNodeWithUsers(int documents)
    {
        var node = IndexedNode.New();
        for (int i = 0; i < documents; i++)
        {
            node.Put($"users/{i}", $"\"name\":\"n{i}\",\"age\":{i}");
        }

        return node;
    }

    private static IndexCatalog CatalogOf(IndexedNode node) =>
        node.Host.TryGetCatalog(node.Database(), out var catalog) ? catalog : throw new InvalidOperationException();

    private static string[] FoldersOf(IndexedNode node) =>
        [
            .. node
                .Disk.List(Folders)
                .SelectMany(database => node.Disk.List($"{Folders}/{database}").Select(index => $"{database}/{index}")),
        ];
}
