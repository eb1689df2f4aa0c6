using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Revisions;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>A journal on a device of its own that is nearly full.</summary>
public class NodeSpaceTests
{
    private const int SegmentBytes = 64 << 10;
    private const StringComparison Ordinal = StringComparison.Ordinal;
    private const string Document = """{"Id":"ID","Type":"DELETE"}""";
    private const string Attachment = """{"Id":"ID","Type":"AttachmentDELETE","Name":"n"}""";
    private const string Counter = """
        {"Id":"ID","Type":"Counters","Counters":{"DocumentId":"ID","Operations":[{"Type":"Delete","CounterName":"c"}]}}
        """;

    private readonly SimulatedDisk _disk = new("/data", "/journal");
    private readonly SimulatedTimeProvider _time = new();

    /// <summary>
    /// The data's reserve is off, so only the journal's device can refuse a write. The same document is written again
    /// and again, so its run is small.
    /// </summary>
    [Fact]
    public void A_full_journal_device_refuses_growth_until_a_flush_releases_segments()
    {
        using var node = Open();
        node.CreateDatabase("Shop");
        for (int i = 0; i < 12; i++)
        {
            node.Put("Shop", "d", $$"""{"noise":"{{Noise(i)}}"}""");
        }

        // Less than the journal's reserve is free; free space is checked once a second.
        _disk.CapacityBytes = _disk.UsedBytes + (3 * SegmentBytes);
        _time.Advance(TimeSpan.FromSeconds(1));
        var refused = node.Propose(node.PutCommand("Shop", "more", "{}")).Rejection;
        Assert.Equal(RejectionKind.InsufficientSpace, refused?.Kind);
        Assert.Contains("/journal", refused!.Message, StringComparison.Ordinal);
        WriteWithoutGrowth(node);

        while (node.Core.Background.DoStep()) { }

        Assert.True(node.Core.Journal.ReadyBytes >= SegmentBytes, "the flush released a segment");
        _time.Advance(TimeSpan.FromSeconds(1));
        node.Put("Shop", "more", "{}");
    }

    [Fact]
    public void A_full_journal_device_does_not_trigger_flushes_that_release_nothing()
    {
        using var node = Open();
        node.CreateDatabase("Shop");
        _disk.CapacityBytes = _disk.UsedBytes + (3 * SegmentBytes);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.True(node.Core.Space.IsJournalLow);
        long durable = node.Core.Storage.Durable.Index;
        for (int i = 0; i < 5; i++)
        {
            WriteWithoutGrowth(node);
            while (node.Core.Background.DoStep()) { }
        }

        Assert.Equal(durable, node.Core.Storage.Durable.Index);
    }

    [Fact]
    public void A_journal_in_the_data_directory_has_no_separate_reserve()
    {
        using var node = SteppedNode.Open(_disk, "/data/node", _time);
        node.CreateDatabase("Shop");
        _disk.CapacityBytes = _disk.UsedBytes + (3 * SegmentBytes);
        _time.Advance(TimeSpan.FromSeconds(1));
        node.Put("Shop", "more", "{}");
    }

    [Fact]
    public void A_deletion_that_keeps_a_revision_is_refused_like_growth()
    {
        using var node = Open();
        node.CreateDatabase("Shop");
        uint database = node.Database("Shop").Number;
        node.Put("Shop", "d", "{}");
        Configure(new RevisionRule());
        _disk.CapacityBytes = _disk.UsedBytes + (3 * SegmentBytes);
        _time.Advance(TimeSpan.FromSeconds(1));
        var refused = node.Propose(Delete()).Rejection;
        Assert.Equal(RejectionKind.InsufficientSpace, refused?.Kind);
        Assert.Contains("PurgeOnDelete", refused!.Message, StringComparison.Ordinal);
        using (var expiry = new ExpiryWriter(database))
        {
            expiry.Add("d"u8, 1);
            Assert.Equal(RejectionKind.InsufficientSpace, node.Propose(expiry.Complete()).Rejection?.Kind);
        }

        Configure(new RevisionRule { PurgesOnDelete = true });
        Assert.Null(node.Propose(Delete()).Rejection);

        CommandBuffer Delete() => CommandEncoder.Delete(database, "d"u8, ExpectedChangeVector.None, key: default);

        void Configure(RevisionRule rule) =>
            node.Run(CommandEncoder.ConfigureRevisions(database, new RevisionsConfiguration(rule, [])));
    }

    [Fact]
    public void A_deletion_in_a_database_that_is_deleted_meanwhile_is_left_to_apply()
    {
        using var node = Open();
        node.CreateDatabase("Shop");
        node.Put("Shop", "d", "{}");
        var database = node.Database("Shop");
        var revisions = new RevisionsConfiguration(new RevisionRule(), []);
        node.Run(CommandEncoder.ConfigureRevisions(database.Number, revisions));
        using var delete = CommandEncoder.Delete(database.Number, "d"u8, ExpectedChangeVector.None, key: default);
        Assert.NotNull(Growth.Check(delete.Written.Span, "No space.", node.Core.Databases));

        // As apply does, before the catalog loses the database.
        database.RefuseReaders(isDeleted: true);
        Assert.Null(Growth.Check(delete.Written.Span, "No space.", node.Core.Databases));
    }

    /// <summary>
    /// A version that is a revision is kept when it is replaced or deleted, also if the configuration has changed.
    /// </summary>
    [Fact]
    public void Deletions_that_keep_a_revision_are_refused_each_in_its_own_words()
    {
        using var node = Open();
        node.CreateDatabase("Shop");
        uint database = node.Database("Shop").Number;
        Configure(new RevisionRule { PurgesOnDelete = true });
        node.Put("Shop", "kept", "{}");
        FillDisk();
        Assert.Contains("The deletion of a counter of document kept stores", Refusal(Counter), Ordinal);
        Assert.Contains(
            "The deletion of an attachment of document kept stores a new version of the document, and a revision keeps "
                + "the attachment, so it takes more space than it frees.",
            Refusal(Attachment),
            Ordinal
        );

        Configure(rule: null);
        Assert.Contains("or the document is a revision itself", Refusal(Document), Ordinal);
        Assert.Contains("of document kept stores a new version", Refusal(Attachment), Ordinal);

        string? Refusal(string command) => Run(node, command.Replace("ID", "kept", Ordinal));

        void Configure(RevisionRule? rule) =>
            node.Run(CommandEncoder.ConfigureRevisions(database, new RevisionsConfiguration(rule, [])));
    }

    [Fact]
    public void Deletions_that_keep_no_revision_need_no_space_for_growth()
    {
        using var node = Open();
        node.CreateDatabase("Shop");
        node.Put("Shop", "a", "{}");
        FillDisk();
        foreach (string command in (string[])[Counter, Attachment, Document])
        {
            Assert.Null(Run(node, command.Replace("ID", "a", Ordinal)));
        }

        Assert.Empty(node.Documents("Shop"));
    }

    [Fact]
    public async Task Documents_that_are_not_kept_are_deleted_and_expire_without_space_for_growth()
    {
        using var node = Open();
        node.CreateDatabase("Shop");
        uint database = node.Database("Shop").Number;
        var rules = new RevisionsConfiguration(defaultRule: null, [("Orders", new RevisionRule())]);
        node.Run(CommandEncoder.ConfigureRevisions(database, rules));
        node.Put("Shop", "orders/1", Expired("Orders"));
        node.Put("Shop", "logs/1", Expired("Logs"));
        node.Put("Shop", "logs/2", Expired("Logs"));
        _disk.CapacityBytes = _disk.UsedBytes + (3 * SegmentBytes);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Null(node.Propose(Delete("LOGS/1")).Rejection);
        Assert.Null(node.Propose(Delete("missing")).Rejection);
        Assert.Contains("orders/1", node.Propose(Delete("orders/1")).Rejection!.Message, StringComparison.Ordinal);

        // Without the test's synchronization context, the work continues within Commit.
        await Task.Run(() =>
        {
            var done = new Expiration(node.Core.Databases, node.Consensus).RunOnceAsync(CancellationToken.None);
            node.Commit();
            Assert.True(done.IsCompletedSuccessfully);
        });
        Assert.Equal(["orders/1"], node.Documents("Shop").Keys);

        CommandBuffer Delete(string id) =>
            CommandEncoder.Delete(database, Encoding.UTF8.GetBytes(id), ExpectedChangeVector.None, key: default);

        static string Expired(string collection) =>
            $$$"""{"@metadata":{"@collection":"{{{collection}}}","@expires":"2000-01-01T00:00:00Z"}}""";
    }

    private void FillDisk()
    {
        _disk.CapacityBytes = _disk.UsedBytes + (3 * SegmentBytes);
        _time.Advance(TimeSpan.FromSeconds(1));
    }

    // Returns why a batch of one command is refused; null if it is not.
    private static string? Run(SteppedNode node, string command)
    {
        byte[] body = Encoding.UTF8.GetBytes($$"""{"Commands":[{{command}}]}""");
        Assert.True(
            BatchRequestParser.TryParse(
                body,
                node.Database("Shop").Number,
                key: default,
                maxBatchBytes: 32 << 20,
                out var batch,
                out var error,
                FormatLevel.Newest
            ),
            error.ToString()
        );
        return node.Propose(batch.Command).Rejection?.Message;
    }

    private SteppedNode Open() =>
        SteppedNode.Open(
            _disk,
            SteppedNode.Options("/data/node") with
            {
                JournalDirectory = "/journal",
                MemtableBytes = 4 << 20,
            },
            _time
        );

    // A deletion is accepted although there is no room for growth; this one deletes nothing.
    private static void WriteWithoutGrowth(SteppedNode node) => node.Run(CommandEncoder.DeleteDatabases(["None"]));

    // Text that compression cannot shorten.
    private static string Noise(int seed)
    {
        byte[] bytes = new byte[16 << 10];
        new Random(seed).NextBytes(bytes);
        return Convert.ToHexString(bytes);
    }
}
