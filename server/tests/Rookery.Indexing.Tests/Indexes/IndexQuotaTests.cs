using System.Buffers;
using System.Text.Json;
using Rookery.Documents.Commands;
using Rookery.Documents.Indexes;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;
using Rookery.Search.Values;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>The quota on indexes of a node, whatever the log defines.</summary>
public sealed class IndexQuotaTests
{
    // Half of these may be automatic.
    private const int MaxIndexesOfSmallestNode = 32;

    [Fact]
    public void The_number_of_indexes_depends_on_the_memory()
    {
        Assert.Equal((128, 64), Bounds(128L << 20));
        Assert.Equal((1024, 512), Bounds(1L << 30));
        Assert.Equal((32, 16), Bounds(16L << 20));

        static (int All, int Automatic) Bounds(long bytes) =>
            new IndexQuota(bytes, static _ => { }) is var quota ? (quota.MaxIndexes, quota.MaxAutomatic) : default;
    }

    [Fact]
    public void Few_documents_get_an_index_while_less_than_half_of_the_places_are_taken()
    {
        var quota = new IndexQuota(16L << 20, static _ => { });
        for (int taken = 0; taken < 8; taken++)
        {
            Assert.True(quota.HasRoomForFewDocuments);
            Assert.True(quota.TryTake(IndexPlace.Automatic, isChosen: true));
        }

        Assert.False(quota.HasRoomForFewDocuments);
        Assert.True(quota.HasRoom(IndexPlace.Automatic));
    }

    /// <summary>The definitions come from members with more memory, or from before the quota existed.</summary>
    [Fact]
    public void A_node_with_a_thousand_definitions_starts_and_maintains_as_many_indexes_as_fit()
    {
        var node = IndexedNode.New();
        node.Put("users/1", "\"name\":\"a\"");
        node.ChangeIndexes(static writer =>
        {
            for (int i = 0; i < 1_000; i++)
            {
                writer.Put($"i{i:D4}", DefinitionOf($"f{i}").ToJson(), settings: default);
            }
        });
        node.SettleAll();
        Assert.Equal(MaxIndexesOfSmallestNode / 2, node.Host.ReadStatus(node.Database()).Count);
        Assert.Single(
            node.Troubles,
            static trouble => trouble.Contains("(16 MiB), at most 16 of them automatic", StringComparison.Ordinal)
        );
        Assert.Contains(
            "has memory for 32 indexes",
            node.Host.WhyNotMaintained(node.Database(), "I0999"),
            StringComparison.Ordinal
        );

        node = node.Restart();
        node.SettleAll();
        var kept = node.Host.ReadStatus(node.Database());
        Assert.Equal(MaxIndexesOfSmallestNode / 2, kept.Count);
        Assert.Null(node.Host.WhyNotMaintained(node.Database(), kept[0].Name));

        // One index is deleted, and another takes its place.
        node.ChangeIndexes(writer => writer.Delete(kept[0].Name));
        node.SettleAll();
        Assert.Equal(MaxIndexesOfSmallestNode / 2, node.Host.ReadStatus(node.Database()).Count);
        node.Dispose();
    }

    [Fact]
    public void Changed_definitions_replace_their_indexes_on_a_node_that_is_full()
    {
        using var node = CreateFullNode(out var names);
        foreach (string name in names)
        {
            node.DefineField(name, "o.name + 'x'");
        }

        // More replacements than are built at a time: the others wait for their turn.
        SettleInTurns(node);
        Assert.All(names, name => Assert.Equal("ax", TermOf(node, name)));
        Assert.All(names, name => Assert.Null(node.Host.WhyNotMaintained(node.Database(), name)));
        Assert.Equal(MaxIndexesOfSmallestNode, node.Host.ReadStatus(node.Database()).Count);
    }

    [Fact]
    public void The_error_names_a_changed_definition_that_has_to_wait()
    {
        using var node = CreateFullNode(out var names);
        node.Host.SetPaused(node.Database(), isPaused: true);
        foreach (string name in names)
        {
            node.DefineField(name, "o.name + 'x'");
        }

        node.SettleAll();
        var waiting = names.Where(name => node.Host.WhyNotMaintained(node.Database(), name) is not null).ToList();
        // An eighth of the indexes may be replaced at a time.
        Assert.Equal(MaxIndexesOfSmallestNode - (MaxIndexesOfSmallestNode / 8), waiting.Count);
        Assert.Equal("a", TermOf(node, waiting[0]));
        var error = node.Host.ReadErrors(node.Database(), waiting[0])[^1];
        Assert.Equal("Open", error.Action);
        Assert.Contains("builds at most 4 changed definitions at a time", error.Message, StringComparison.Ordinal);

        node.Host.SetPaused(node.Database(), isPaused: false);
        SettleInTurns(node);
        Assert.All(names, name => Assert.Equal("ax", TermOf(node, name)));
    }

    [Fact]
    public void A_database_whose_indexes_are_paused_stays_so_while_it_is_disabled_and_enabled()
    {
        using var node = IndexedNode.New();
        node.DefineField("byName", "o.name");
        node.SettleAll();
        node.Host.SetPaused(node.Database(), isPaused: true);
        foreach (string isDisabled in (string[])["true", "false"])
        {
            node.Run(
                CommandEncoder.SetConfiguration(
                    node.Database().Number,
                    "disabled",
                    System.Text.Encoding.ASCII.GetBytes(isDisabled)
                )
            );
            node.SettleAll();
        }

        Assert.True(node.Host.IsPaused(node.Database()));
    }

    [Fact]
    public void Automatic_indexes_close_for_user_defined_ones_of_any_database()
    {
        using var node = IndexedNode.New();
        node.CreateDatabase("zoo");
        for (int i = 0; i < MaxIndexesOfSmallestNode / 2; i++)
        {
            node.Define($"a{i:D2}", DefinitionOf($"f{i}"));
        }

        node.SettleAll();
        for (int i = 0; i < MaxIndexesOfSmallestNode - 3; i++)
        {
            node.DefineField($"s{i:D2}", "o.name", "zoo");
        }

        node.SettleAll();
        Assert.Equal(MaxIndexesOfSmallestNode - 3, node.Host.ReadStatus(node.Database("zoo")).Count);
        Assert.Equal(["a00", "a01", "a02"], node.Host.ReadStatus(node.Database()).Select(static status => status.Name));
        Assert.Contains(
            "has memory for 32 indexes",
            node.Host.WhyNotMaintained(node.Database(), "a15"),
            StringComparison.Ordinal
        );

        node.ChangeIndexes(static writer => writer.Delete("s00"), "zoo");
        node.SettleAll();
        Assert.Equal(4, node.Host.ReadStatus(node.Database()).Count); // the three, and one for the deleted index
    }

    /// <summary>
    /// An earlier version gave the places by names of databases and indexes when it started, so that indexes that had
    /// answered were closed for newer ones.
    /// </summary>
    [Fact]
    public void A_start_gives_the_places_to_the_same_indexes_as_before()
    {
        var node = IndexedNode.New();
        node.CreateDatabase("zoo");
        node.DefineField("zebra", "o.name", "zoo");
        node.DefineField("yak", "o.name");
        for (int i = 0; i < MaxIndexesOfSmallestNode; i++)
        {
            node.DefineField($"a{i:D2}", "o.name");
            node.SettleAll();
        }

        // These change the records of old definitions.
        node.ChangeIndexes(static writer =>
            writer.Configure("yak", new IndexSettingsChange(IndexLockMode.LockedIgnore))
        );
        node.ChangeIndexes(
            static writer => writer.Configure("zebra", new IndexSettingsChange(Priority: IndexPriority.Low)),
            "zoo"
        );
        node.SettleAll();
        string[] kept = NamesOf(node);
        Assert.Equal(MaxIndexesOfSmallestNode, kept.Length);
        Assert.Equal(["a00", "a01"], kept[..2]);
        Assert.Equal(["a29", "yak", "zebra"], kept[^3..]);
        Assert.NotNull(node.Host.WhyNotMaintained(node.Database(), "a30"));

        node = node.Restart();
        node.SettleAll();
        Assert.Equal(kept, NamesOf(node));

        node.ChangeIndexes(static writer => writer.Delete("a07"));
        node.SettleAll();
        Assert.Contains("a30", NamesOf(node));
        Assert.DoesNotContain("a31", NamesOf(node));
        node.Dispose();

        static string[] NamesOf(IndexedNode node) =>
            [
                .. node.Host.ReadStatus(node.Database()).Select(static status => status.Name),
                .. node.Host.ReadStatus(node.Database("zoo")).Select(static status => status.Name),
            ];
    }

    [Fact]
    public void A_changed_definition_keeps_the_place_of_the_one_that_it_replaces()
    {
        var node = CreateFullNode(out var names);
        node.DefineField("later", "o.name");
        node.DefineField(names[0], "o.name + 'x'");
        SettleInTurns(node);
        Assert.Equal(names, node.Host.ReadStatus(node.Database()).Select(static status => status.Name));

        node = node.Restart();
        SettleInTurns(node);
        Assert.Equal(names, node.Host.ReadStatus(node.Database()).Select(static status => status.Name));
        Assert.Equal("ax", TermOf(node, names[0]));
        node.Dispose();
    }

    [Fact]
    public void A_definition_without_a_place_is_known_before_it_is_followed()
    {
        using var node = CreateFullNode(out var names);
        Assert.Null(WhyNoPlace("later"));
        node.DefineField("later", "o.name");
        Assert.Contains("has memory for 32 indexes", WhyNoPlace("later"), StringComparison.Ordinal);
        Assert.Null(WhyNoPlace(names[0]));

        string? WhyNoPlace(string name) => node.Host.Quota.ReadPlaces(node.Database(), node.Store.Databases.All)(name);
    }

    [Fact]
    public void The_error_names_a_definition_that_the_node_cannot_run()
    {
        using var node = IndexedNode.New();
        node.ChangeIndexes(static writer =>
            writer.Put("later", """{"Type":"OfALaterVersion"}"""u8.ToArray(), settings: default)
        );
        node.SettleAll();
        Assert.Contains(
            "does not know",
            node.Host.WhyNotMaintained(node.Database(), "later"),
            StringComparison.Ordinal
        );
        var error = node.Host.ReadErrors(node.Database(), "later").Single();
        Assert.Contains("does not know", error.Message, StringComparison.Ordinal);

        node.ChangeIndexes(static writer => writer.Delete("later"));
        node.SettleAll();
        Assert.Null(node.Host.WhyNotMaintained(node.Database(), "later"));
    }

    /// <summary>The wait would last an hour: only the rejection ends it.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_wait_for_an_index_ends_when_its_definition_is_refused(bool whilePausedOrDisabled)
    {
        using var node = IndexedNode.New();
        node.ChangeIndexes(static writer =>
            writer.Put("later", """{"Type":"OfALaterVersion"}"""u8.ToArray(), settings: default)
        );
        var hour = TimeSpan.FromHours(1);
        var waiting = node.Host.WaitAsync(
            node.Database(),
            "later",
            1,
            hour,
            CancellationToken.None,
            whilePausedOrDisabled
        );
        Assert.False(waiting.IsCompleted);
        node.SettleAll();
        Assert.False(await waiting.WaitAsync(TimeSpan.FromMinutes(1)));
    }

    [Fact]
    public void Definitions_are_read_only_near_the_quota_and_once_until_they_change()
    {
        using var node = IndexedNode.New();
        node.CreateDatabase("zoo");
        node.DefineField("s", "o.name", "zoo");
        for (int i = 0; i < (MaxIndexesOfSmallestNode / 2) - 2; i++)
        {
            node.Define($"i{i}", DefinitionOf($"f{i}"));
        }

        Assert.True(node.Host.MayDefine(defining: 1));
        Assert.Equal(0, node.Host.Automatic.DefinitionsRead);
        Assert.True(node.Host.MayDefine(defining: 2));
        Assert.False(node.Host.MayDefine(defining: 3));
        Assert.Equal((MaxIndexesOfSmallestNode / 2) - 1, node.Host.Automatic.DefinitionsRead);

        // One index is deleted and another defined in one command: the number is unchanged.
        node.ChangeIndexes(static writer =>
        {
            writer.Delete("i0");
            writer.Put("other", DefinitionOf("other").ToJson(), settings: default);
        });
        Assert.True(node.Host.MayDefine(defining: 2));
        Assert.False(node.Host.MayDefine(defining: 3));
        node.ChangeIndexes(static writer => writer.Delete("i1"));
        Assert.True(node.Host.MayDefine(defining: 3));
        Assert.False(node.Host.MayDefine(defining: 4));

        // A database of the same name has its own definitions.
        node.Run(CommandEncoder.DeleteDatabases(["shop"]));
        node.CreateDatabase("shop");
        Assert.True(node.Host.MayDefine(defining: MaxIndexesOfSmallestNode / 2));
        Assert.False(node.Host.MayDefine(defining: (MaxIndexesOfSmallestNode / 2) + 1));
    }

    /// <summary>Creates a node with as many indexes as it maintains.</summary>
    private static IndexedNode CreateFullNode(out string[] names)
    {
        var node = IndexedNode.New();
        node.Put("users/1", "\"name\":\"a\"");
        names = [.. Enumerable.Range(0, MaxIndexesOfSmallestNode).Select(static number => $"s{number:D2}")];
        foreach (string name in names)
        {
            node.DefineField(name, "o.name");
        }

        node.SettleAll();
        Assert.Equal(names, node.Host.ReadStatus(node.Database()).Select(static status => status.Name));
        return node;
    }

    // A replacement is written once its entries are old enough. Then the next ones begin.
    private static void SettleInTurns(IndexedNode node)
    {
        for (int turn = 0; turn <= MaxIndexesOfSmallestNode / 4; turn++)
        {
            node.SettleAll();
        }
    }

    /// <summary>Returns the one term of the one document.</summary>
    private static string TermOf(IndexedNode node, string name)
    {
        string field = $"{MappedField.ValuesOf(0)}:";
        string term = StoreContents
            .TermsOf(node.StoreOf(name))
            .Single()
            .Value.Single(one => one.StartsWith(field, StringComparison.Ordinal));
        var text = new ArrayBufferWriter<byte>();
        TermKey.WriteJson(Convert.FromHexString(term[field.Length..]), text);
        return JsonSerializer.Deserialize<string>(text.WrittenSpan)!;
    }

    private static AutoIndexDefinition DefinitionOf(string field) =>
        new("Users", [new AutoIndexField([field], AutoIndexFieldUses.None)]);
}
