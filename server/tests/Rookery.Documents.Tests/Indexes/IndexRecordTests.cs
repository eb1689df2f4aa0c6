using System.Globalization;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Indexes;
using Rookery.Documents.Nodes;
using Rookery.Documents.Tests.Backups;
using Rookery.Documents.Tests.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Indexes;

/// <summary>The records of index definitions: their commands, numbers, locks and bounds.</summary>
public sealed class IndexRecordTests
{
    private readonly SimulatedDisk _disk = new("/data", "/backups");

    [Fact]
    public void The_format_of_the_command_is_stable()
    {
        using var writer = new IndexWriter(database: 258, key: default);
        writer.Put("Ab", "{}"u8, new IndexSettingsChange(Priority: IndexPriority.High));
        writer.Configure("Ä", new IndexSettingsChange(IndexLockMode.LockedError, IsDisabled: true));
        writer.Delete("c");
        using var command = writer.Complete();
        Assert.Equal(
            "020E00"
                + "02010000"
                + "03000000" // header
                + "01"
                + "02"
                + "000200"
                + "026162"
                + "024162"
                + "027B7D" // put: priority given, lower-cased name, name, definition
                + "03"
                + "05"
                + "020001"
                + "02C3A4" // configure: lock and state given
                + "02"
                + "00"
                + "000000"
                + "0163", // delete
            Convert.ToHexString(command.Written.Span)
        );
    }

    [Fact]
    public void A_definition_is_stored_unchanged_with_a_number_and_a_version_under_a_case_insensitive_name()
    {
        using var node = Open();
        var first = Put(node, "Users/ByName", "one");
        var second = Put(
            node,
            "Älpen",
            "two",
            new IndexSettingsChange(IndexLockMode.LockedIgnore, IndexPriority.Low, IsDisabled: true)
        );
        Assert.Equal((1, 2), (NumberOf(first), NumberOf(second)));
        Assert.Equal(["Users/ByName", "Älpen"], ReadAll(node).Select(static index => index.Name));

        var stored = Find(node, "USERS/byname")!;
        Assert.Equal(
            ("Users/ByName", 1, "one", default(IndexSettings), first.Etag),
            (stored.Name, stored.Number, DefinitionOf(stored), stored.Settings, stored.Version)
        );
        Assert.Equal(
            new IndexSettings(IndexLockMode.LockedIgnore, IndexPriority.Low, IsDisabled: true),
            Find(node, "äLPEN")!.Settings
        );
        Assert.Null(Find(node, "users"));
        Assert.Null(Find(node, "no\nname"));
    }

    [Fact]
    public void An_identical_definition_changes_nothing_and_a_different_one_gets_a_new_number()
    {
        using var node = Open();
        var first = Put(node, "a", "one");
        using var changes = node.Database("shop").SubscribeToIndexes();
        var again = Put(node, "A", "one");
        Assert.Equal((OperationStatus.NotModified, first.Etag, 1), (again.Status, again.Etag, NumberOf(again)));
        Assert.False(changes.TryRead(out _));
        Assert.Null(Find(node, "a")!.Replaced);

        var second = Put(node, "A", "two");
        Assert.Equal((OperationStatus.Configured, 2), (second.Status, NumberOf(second)));
        var stored = Find(node, "a")!;
        Assert.Equal(
            ("A", 2, "two", 1, "one"),
            (
                stored.Name,
                stored.Number,
                DefinitionOf(stored),
                stored.Replaced!.Number,
                Encoding.UTF8.GetString(stored.Replaced.Definition.Span)
            )
        );
        Assert.True(changes.TryRead(out var change));
        Assert.Equal(new IndexChange(IndexChangeKind.Defined, "A", second.Etag), change);
    }

    [Fact]
    public void A_change_of_settings_is_reported_by_what_it_changed()
    {
        using var node = Open();
        Put(node, "a", "one");
        using var changes = node.Database("shop").SubscribeToIndexes();
        Assert.Equal([IndexChangeKind.Locked], Configure(new(LockMode: IndexLockMode.LockedError)));
        Assert.Equal([IndexChangeKind.Configured], Configure(new(Priority: IndexPriority.High)));
        Assert.Equal(
            [IndexChangeKind.Locked, IndexChangeKind.Configured],
            Configure(new(IndexLockMode.Unlock, IndexPriority.Low))
        );
        Assert.Empty(Configure(new(IndexLockMode.Unlock)));

        List<IndexChangeKind> Configure(IndexSettingsChange settings)
        {
            ChangeIndexes(node, writer => writer.Configure("a", settings));
            var kinds = new List<IndexChangeKind>();
            while (changes.TryRead(out var change))
            {
                kinds.Add(change.Kind);
            }

            return kinds;
        }
    }

    [Fact]
    public void Index_numbers_are_never_reused()
    {
        using (var node = Open())
        {
            Put(node, "a", "one");
            Put(node, "b", "one");
            Assert.Equal(OperationStatus.Deleted, ChangeIndexes(node, static writer => writer.Delete("B"))[0].Status);
            Assert.Equal(OperationStatus.NotFound, ChangeIndexes(node, static writer => writer.Delete("b"))[0].Status);
        }

        using var reopened = Open(isNew: false);
        Assert.Equal(3, NumberOf(Put(reopened, "b", "one")));
        Assert.Equal([1L, 3L], ReadAll(reopened).Select(static index => index.Number));
    }

    [Fact]
    public async Task Each_database_has_its_own_indexes_which_its_deletion_removes()
    {
        using var node = Open();
        node.CreateDatabase("other");
        Put(node, "a", "one");
        Put(node, "a", "of other", database: "other");
        Assert.Equal("of other", DefinitionOf(Find(node, "a", "other")!));
        using var changes = node.Database("other").SubscribeToIndexes();

        node.Run(CommandEncoder.DeleteDatabases(["other"]));
        Assert.False(await changes.WaitAsync(CancellationToken.None));
        node.CreateDatabase("other");
        Assert.Empty(ReadAll(node, "other"));
        Assert.Equal("one", DefinitionOf(Find(node, "a")!));
    }

    [Fact]
    public void A_new_definition_of_a_locked_index_is_ignored_or_refused_but_it_can_be_configured_and_deleted()
    {
        using var node = Open();
        Put(node, "a", "one");
        var locked = ChangeIndexes(
            node,
            static writer => writer.Configure("a", new IndexSettingsChange(IndexLockMode.LockedIgnore))
        )[0];
        Assert.Equal(OperationStatus.Configured, locked.Status);
        Assert.Equal(OperationStatus.NotModified, Put(node, "a", "two").Status);

        ChangeIndexes(node, static writer => writer.Configure("a", new IndexSettingsChange(IndexLockMode.LockedError)));
        Assert.Equal(OperationStatus.NotModified, Put(node, "a", "one").Status);
        var refused = Propose(
            node,
            static writer =>
            {
                writer.Put("b", "new"u8, settings: default);
                writer.Put("a", "two"u8, settings: default);
            }
        ).Rejection!;
        Assert.Equal((RejectionKind.Invalid, 1), (refused.Kind, refused.Operation));
        Assert.Equal("a", Assert.Single(ReadAll(node)).Name);

        // A refused definition uses no number.
        Assert.Equal(2, NumberOf(Put(node, "b", "new")));
        Assert.Equal(
            OperationStatus.Configured,
            ChangeIndexes(
                node,
                static writer => writer.Configure("A", new IndexSettingsChange(Priority: IndexPriority.High))
            )[0].Status
        );
        Assert.Equal(
            new IndexSettings(IndexLockMode.LockedError, IndexPriority.High, IsDisabled: false),
            Find(node, "a")!.Settings
        );
        Assert.Equal(
            OperationStatus.NotFound,
            ChangeIndexes(
                node,
                static writer => writer.Configure("none", new IndexSettingsChange(Priority: IndexPriority.High))
            )[0].Status
        );
        Assert.Equal(OperationStatus.Deleted, ChangeIndexes(node, static writer => writer.Delete("a"))[0].Status);
    }

    [Fact]
    public void Definitions_survive_restarts_flushes_and_a_backup_at_any_length()
    {
        string longest = new('d', IndexRecord.MaxDefinitionBytes);
        string longName = new('n', IndexRecord.MaxNameBytes);
        using (var node = Open())
        {
            Put(node, longName, longest);
            Put(node, "flushed", longest);
            node.Flush();
            Put(node, "flushed", "short");
            Put(node, longName, longest[1..]);
        }

        using (var again = Open(isNew: false))
        {
            Check(again);
            BackedUp.Take(again, _disk);
        }

        BackedUp.Restore(_disk);
        using var restored = SteppedNode.Open(_disk, BackedUp.Restored);
        Check(restored);

        void Check(SteppedNode node)
        {
            Assert.Equal(["flushed", longName], ReadAll(node).Select(static index => index.Name));
            Assert.Equal("short", DefinitionOf(Find(node, "flushed")!));
            Assert.Equal(longest, Encoding.UTF8.GetString(Find(node, "flushed")!.Replaced!.Definition.Span));
            Assert.Equal(longest[1..], DefinitionOf(Find(node, longName)!));
        }
    }

    [Fact]
    public void A_retry_with_its_idempotency_key_gets_the_first_outcome()
    {
        using var node = Open();
        var key = new IdempotencyKey(1, 2);
        Assert.Equal(
            1,
            NumberOf(ChangeIndexes(node, static writer => writer.Put("a", "one"u8, settings: default), key)[0])
        );
        Assert.Equal(2, NumberOf(Put(node, "a", "two")));
        var retried = ChangeIndexes(node, static writer => writer.Put("a", "one"u8, settings: default), key)[0];
        Assert.Equal((OperationStatus.Configured, 1), (retried.Status, NumberOf(retried)));
        Assert.Equal("two", DefinitionOf(Find(node, "a")!));
    }

    [Fact]
    public void The_number_of_indexes_is_limited()
    {
        using var node = Open();
        ChangeIndexes(
            node,
            static writer =>
            {
                for (int i = 0; i < IndexRecord.MaxCount; i++)
                {
                    writer.Put(i.ToString(CultureInfo.InvariantCulture), "{}"u8, settings: default);
                }
            }
        );
        Assert.Contains(
            "Delete some",
            Propose(node, static writer => writer.Put("more", "{}"u8, settings: default)).Rejection!.Message,
            StringComparison.Ordinal
        );
        Put(node, "7", "another");
        ChangeIndexes(node, static writer => writer.Delete("8"));
        Assert.Equal(OperationStatus.Configured, Put(node, "more", "{}").Status);
    }

    [Fact]
    public void Indexes_can_be_deleted_when_space_is_low()
    {
        using (var node = Open())
        {
            Put(node, "a", "one");
        }

        using var full = SteppedNode.Open(
            _disk,
            SteppedNode.Options("/data/node") with
            {
                Reserve = new ReserveRule(Bytes: 1L << 60, Fraction: 0),
            }
        );
        Assert.Equal(
            RejectionKind.InsufficientSpace,
            Propose(full, static writer => writer.Put("b", "one"u8, settings: default)).Rejection?.Kind
        );
        ChangeIndexes(full, static writer => writer.Configure("a", new IndexSettingsChange(IsDisabled: true)));
        ChangeIndexes(full, static writer => writer.Delete("a"));
    }

    [Fact]
    public void Below_its_format_level_no_index_definition_is_written()
    {
        SteppedNode.Open(_disk, SteppedNode.Options("/data/node") with { NewestFormatLevel = 1 }).Dispose();
        using var node = SteppedNode.Open(_disk, "/data/node");
        node.CreateDatabase("shop");
        long journal = node.Core.Journal.LastIndex;
        var refused = Propose(node, static writer => writer.Put("a", "one"u8, settings: default)).Rejection!;
        Assert.Contains("finalize-upgrade", refused.Message, StringComparison.Ordinal);
        Assert.Equal(journal, node.Core.Journal.LastIndex);

        using (var raise = new ClusterRecordWriter())
        {
            raise.Set(FormatLevel.RecordKey, new FormatLevel(FormatLevel.Indexes, "0.9.2").ToRecord());
            node.Run(raise.Complete());
        }

        Assert.Equal(1, NumberOf(Put(node, "a", "one")));
    }

    /// <summary>
    /// Applies random commands to two nodes, one of which is restarted and flushed in between, and compares both with a
    /// simple model.
    /// </summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Two_nodes_that_apply_the_same_commands_have_the_same_indexes(int seed)
    {
        var random = new Random(seed);
        var model = new SortedDictionary<string, (string Name, long Number, string Definition)>(StringComparer.Ordinal);
        long lastNumber = 0;
        using var steady = SteppedNode.Open(new SimulatedDisk("/data"), "/data/node");
        steady.CreateDatabase("shop");
        var restarted = Open();
        for (int step = 0; step < 150; step++)
        {
            // Six names in two spellings. Long definitions do not stay in their rows.
            string name = ((char)(random.Next(2) == 0 ? 'a' + random.Next(6) : 'A' + random.Next(6))).ToString();
            string lower = name.ToLowerInvariant();
            string definition = new((char)('0' + random.Next(3)), random.Next(4) == 0 ? 70_000 : 5);
            bool isDelete = random.Next(3) == 0;
            void Encode(IndexWriter writer)
            {
                if (isDelete)
                {
                    writer.Delete(name);
                }
                else
                {
                    writer.Put(name, Encoding.UTF8.GetBytes(definition), settings: default);
                }
            }

            var expected = ChangeIndexes(steady, Encode)[0];
            Assert.Equal(NumberOf(expected), NumberOf(ChangeIndexes(restarted, Encode)[0]));
            if (isDelete)
            {
                model.Remove(lower);
            }
            else if (
                !model.TryGetValue(lower, out var previous)
                || !string.Equals(previous.Definition, definition, StringComparison.Ordinal)
            )
            {
                model[lower] = (name, ++lastNumber, definition);
            }

            if (random.Next(20) == 0)
            {
                restarted.Flush();
            }
            else if (random.Next(20) == 0)
            {
                restarted.Dispose();
                restarted = Open(isNew: false);
            }

            Assert.Equal(
                model.Values,
                ReadAll(restarted).Select(static index => (index.Name, index.Number, DefinitionOf(index)))
            );
        }

        Assert.Equal(steady.Core.Applier.OutcomeHash, restarted.Core.Applier.OutcomeHash);
        Assert.Equal(
            ReadAll(steady)
                .Select(static index =>
                    (
                        index.Name,
                        index.Number,
                        DefinitionOf(index),
                        index.Settings,
                        index.Version,
                        index.Replaced?.Number
                    )
                ),
            ReadAll(restarted)
                .Select(static index =>
                    (
                        index.Name,
                        index.Number,
                        DefinitionOf(index),
                        index.Settings,
                        index.Version,
                        index.Replaced?.Number
                    )
                )
        );
        restarted.Dispose();
    }

    private SteppedNode Open(bool isNew = true)
    {
        var node = SteppedNode.Open(_disk, "/data/node");
        if (isNew)
        {
            node.CreateDatabase("shop");
        }

        return node;
    }

    /// <summary>Returns the number of the defined or configured index.</summary>
    private static long NumberOf(OperationResult result) => result.Low;

    /// <summary>Defines an index.</summary>
    private static OperationResult Put(
        SteppedNode node,
        string name,
        string definition,
        IndexSettingsChange settings = default,
        string database = "shop"
    ) =>
        ChangeIndexes(
            node,
            writer => writer.Put(name, Encoding.UTF8.GetBytes(definition), settings),
            database: database
        )[0];

    private static CommandOutcome ChangeIndexes(
        SteppedNode node,
        Action<IndexWriter> encode,
        IdempotencyKey key = default,
        string database = "shop"
    )
    {
        var outcome = Propose(node, encode, key, database);
        Assert.Null(outcome.Rejection);
        return outcome;
    }

    private static CommandOutcome Propose(
        SteppedNode node,
        Action<IndexWriter> encode,
        IdempotencyKey key = default,
        string database = "shop"
    )
    {
        using var writer = new IndexWriter(node.Database(database).Number, key);
        encode(writer);
        return node.Propose(writer.Complete());
    }

    private static IReadOnlyList<IndexRecord> ReadAll(SteppedNode node, string database = "shop")
    {
        using var reader = node.Database(database).OpenReader();
        return reader.ReadIndexes();
    }

    private static IndexRecord? Find(SteppedNode node, string name, string database = "shop")
    {
        using var reader = node.Database(database).OpenReader();
        return reader.FindIndex(name);
    }

    private static string DefinitionOf(IndexRecord index) => Encoding.UTF8.GetString(index.Definition.Span);
}
