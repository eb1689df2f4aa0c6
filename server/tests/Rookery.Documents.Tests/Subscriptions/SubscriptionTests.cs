using System.Text;
using Rookery.Documents.Changes;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Subscriptions;
using Rookery.Documents.Tests.Backups;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Subscriptions;

/// <summary>Data subscriptions as apply executes them.</summary>
public sealed class SubscriptionTests : IDisposable
{
    private readonly SimulatedDisk _disk = new("/data");
    private readonly SimulatedTimeProvider _time = new(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero));
    private SteppedNode _node;
    private string _name = "db";

    public SubscriptionTests()
    {
        _node = SteppedNode.Open(_disk, "/data/node", _time);
        _node.CreateDatabase("db");
        _node.Put("db", "users/1", "{}");
    }

    private Database Database => _node.Database(_name);

    public void Dispose() => _node.Dispose();

    [Fact]
    public void A_subscription_without_a_name_is_named_by_its_number()
    {
        var created = Put(name: null, "from A");
        Assert.Equal((OperationStatus.Created, "1"), (created.Status, created.Id));
        Put("3", "from A");
        Assert.Equal("4", Put(name: null, "from A").Id);
        Assert.Equal(["1", "3", "4"], Names());
        Assert.Equal(4, Find("4")!.Number);
    }

    [Fact]
    public void A_name_is_taken_in_any_casing_until_it_is_deleted()
    {
        Put("Orders", "from A");
        var refused = Propose(Encode("oRDERS", "from B"));
        Assert.Equal(RejectionKind.Invalid, refused.Rejection?.Kind);
        Assert.Equal("from A", Find("orders")!.Query);
        Assert.Equal(OperationStatus.Deleted, Delete("ORDERS").Status);
        Assert.Equal(OperationStatus.NotFound, Delete("orders").Status);
        Assert.Equal(2, Put("orders", "from B").Low);
    }

    [Fact]
    public void An_update_changes_only_what_it_names()
    {
        Put("a", "from A", mentor: "B", start: 1);
        var before = Find("a")!;
        var same = Update(number: 0, "A", new SubscriptionCommand { Query = "from A"u8 });
        Assert.Equal(OperationStatus.NotModified, same.Status);
        Assert.Equal(before, Find("a"));

        Update(number: 0, "a", new SubscriptionCommand { IsDisabled = true });
        Assert.Equal(before with { IsDisabled = true, Version = Find("a")!.Version }, Find("a"));
        Update(before.Number, "Other", new SubscriptionCommand { ChangesMentor = true });
        Assert.Null(Find("a"));
        var renamed = Find("other")!;
        Assert.Equal(
            (before.Number, "Other", "from A", null, 1L),
            (renamed.Number, renamed.Name, renamed.Query, renamed.MentorNode, renamed.Progress)
        );
        Assert.Equal(OperationStatus.NotFound, Update(77, "x", new SubscriptionCommand { IsDisabled = true }).Status);
        Assert.Equal(OperationStatus.NotFound, Update(0, "x", new SubscriptionCommand { IsDisabled = true }).Status);
    }

    [Fact]
    public void A_rename_to_a_taken_name_changes_nothing()
    {
        long number = Put("a", "from A").Low;
        Put("b", "from B");
        var refused = Propose(
            SubscriptionWriter.Put(
                Database.Number,
                key: default,
                "B",
                new SubscriptionCommand { Kind = SubscriptionCommandKind.Put, Number = number }
            )
        );
        Assert.Equal(RejectionKind.Invalid, refused.Rejection?.Kind);
        Assert.Equal(["a", "b"], Names());
    }

    [Fact]
    public void A_subscription_begins_after_the_last_document_that_is_stored_when_it_is_applied()
    {
        Put("all", "from A");
        long last = LastDocumentEtag();
        Propose(
            SubscriptionWriter.Put(
                Database.Number,
                key: default,
                "new",
                new SubscriptionCommand
                {
                    Kind = SubscriptionCommandKind.Put,
                    Query = "from A"u8,
                    Creates = true,
                    StartKind = SubscriptionStart.LastDocument,
                }
            )
        );
        Assert.Equal(0, Find("all")!.Progress);
        Assert.Equal(last, Find("new")!.Progress);
    }

    [Fact]
    public void An_acknowledgement_raises_only_the_progress_that_its_sender_read()
    {
        long number = Put("a", "from A").Low;
        Assert.Equal(OperationStatus.Configured, Acknowledge(number, expected: 0, progress: 1).Status);
        Assert.Equal(1, Find("a")!.Progress);
        Assert.True(Find("a")!.AcknowledgedTicks > 0);
        Assert.Equal(7, Find("a")!.ConnectedTicks);
        var late = Acknowledge(number, expected: 0, progress: 2);
        Assert.Equal((OperationStatus.Mismatched, 1L), (late.Status, late.Etag));
        Assert.Equal(OperationStatus.Mismatched, Acknowledge(number, expected: 1, progress: 0).Status);
        Assert.Equal(OperationStatus.Mismatched, Acknowledge(number, expected: 1, progress: long.MaxValue).Status);
        Assert.Equal(OperationStatus.NotFound, Acknowledge(number + 1, expected: 0, progress: 1).Status);
        Assert.Equal(1, Find("a")!.Progress);
    }

    [Fact]
    public void An_acknowledgement_does_not_change_the_version_of_the_definition()
    {
        long number = Put("a", "from A").Low;
        long version = Find("a")!.Version;
        Acknowledge(number, expected: 0, progress: 1);
        Assert.Equal(version, Find("a")!.Version);
    }

    [Fact]
    public void Subscriptions_make_no_index_stale()
    {
        long before = Database.LastEtagForIndexes;
        Acknowledge(Put("a", "from A").Low, expected: 0, progress: 1);
        Assert.Equal(before, Database.LastEtagForIndexes);
        Assert.True(Database.LastEtag > before);
    }

    [Fact]
    public void Subscriptions_survive_a_restart_a_flush_and_go_with_their_database()
    {
        long number = Put("a", "from A", mentor: "B").Low;
        Acknowledge(number, expected: 0, progress: 1);
        var before = Find("a");
        Restart();
        Assert.Equal(before, Find("a"));
        _node.Flush();
        Restart();
        Assert.Equal(before, Find("a"));
        Propose(CommandEncoder.DeleteDatabases(["db"]));
        _node.CreateDatabase("db");
        Assert.Empty(Names());
        Assert.Equal(1, Put("a", "from A").Low);
    }

    [Fact]
    public void A_restored_backup_has_the_subscriptions_and_their_progress()
    {
        var disk = new SimulatedDisk("/data", "/backups");
        using (var source = BackedUp.NewNode(disk, documents: 10))
        {
            _node.Dispose();
            _node = source;
            _name = "Shop";
            Acknowledge(Put("a", "from A").Low, expected: 0, progress: 5);
            source.Flush();
            Put("b", "from B");
            BackedUp.Take(source, disk);
        }

        BackedUp.Restore(disk);
        _node = SteppedNode.Open(disk, BackedUp.Restored);
        Assert.Equal(["a", "b"], Names());
        Assert.Equal((5L, 0L), (Find("a")!.Progress, Find("b")!.Progress));
        Assert.Equal(3, Put("c", "from C").Low);
    }

    [Fact]
    public void Changes_are_published_to_the_member_that_serves_the_workers()
    {
        using var changes = Database.FollowSubscriptions();
        long number = Put("a", "from A").Low;
        Update(0, "a", new SubscriptionCommand { Query = "from B"u8 });
        Update(0, "a", new SubscriptionCommand { Query = "from B"u8 });
        Propose(SubscriptionWriter.Drop(Database.Number, "A", "worker"));
        Propose(SubscriptionWriter.Drop(Database.Number, "A", workerId: null));
        Update(0, "a", new SubscriptionCommand { IsDisabled = true });
        Delete("a");
        Assert.Equal(
            [
                new SubscriptionChange(SubscriptionChangeKind.Modified, number, WorkerId: null),
                new SubscriptionChange(SubscriptionChangeKind.Dropped, number, "worker"),
                new SubscriptionChange(SubscriptionChangeKind.Dropped, number, WorkerId: null),
                new SubscriptionChange(SubscriptionChangeKind.Disabled, number, WorkerId: null),
                new SubscriptionChange(SubscriptionChangeKind.Deleted, number, WorkerId: null),
            ],
            ReadAll(changes)
        );
    }

    [Fact]
    public void The_number_of_subscriptions_is_bounded()
    {
        for (int i = 0; i < SubscriptionRecord.MaxCount; i++)
        {
            Put($"s{i}", "from A");
        }

        Assert.Contains("maximum", Propose(Encode("one more", "from A")).Rejection!.Message, StringComparison.Ordinal);
        Delete("s7");
        Put("one more", "from A");
    }

    [Fact]
    public void An_acknowledgement_of_documents_of_an_earlier_query_is_refused()
    {
        long number = Put("a", "from A").Low;
        long version = Find("a")!.Version;
        Update(number, "a", new SubscriptionCommand { Query = "from B"u8 });
        Assert.Equal(OperationStatus.Mismatched, Acknowledge(number, expected: 0, progress: 1, version).Status);
        Assert.Equal(0, Find("a")!.Progress);
        Assert.Equal(OperationStatus.Configured, Acknowledge(number, expected: 0, progress: 1).Status);
    }

    [Fact]
    public async Task A_wait_for_the_next_operation_ends_with_it_and_with_the_database()
    {
        var database = Database;
        var next = database.WaitForOperationAfterAsync(database.LastEtag, CancellationToken.None);
        Assert.False(next.IsCompleted);
        _node.Put("db", "users/2", "{}");
        await next;
        await database.WaitForOperationAfterAsync(database.LastEtag - 1, CancellationToken.None);
        var end = database.WaitForOperationAfterAsync(database.LastEtag, CancellationToken.None);
        Propose(CommandEncoder.DeleteDatabases(["db"]));
        await end;
        await database.WaitForOperationAfterAsync(database.LastEtag, CancellationToken.None);
    }

    private static List<SubscriptionChange> ReadAll(ChangeSubscription<SubscriptionChange> changes)
    {
        var read = new List<SubscriptionChange>();
        while (changes.TryRead(out var change))
        {
            read.Add(change);
        }

        return read;
    }

    private SubscriptionRecord? Find(string name)
    {
        using var reader = Database.OpenReader();
        var found = SubscriptionRows.Find(reader, name);
        Assert.Equal(found, found is null ? null : SubscriptionRows.Find(reader, found.Number));
        return found;
    }

    private List<string> Names()
    {
        using var reader = Database.OpenReader();
        var names = new List<string>();
        byte[]? after = null;
        while (SubscriptionRows.ReadNext(reader, skipped: 0, ref after) is { } record)
        {
            names.Add(record.Name);
        }

        return names;
    }

    private long LastDocumentEtag()
    {
        using var reader = Database.OpenReader();
        return reader.ReadStatistics().LastDocumentEtag;
    }

    private CommandBuffer Encode(string? name, string query, string mentor = "", long start = 0) =>
        SubscriptionWriter.Put(
            Database.Number,
            key: default,
            name,
            new SubscriptionCommand
            {
                Kind = SubscriptionCommandKind.Put,
                Query = Encoding.UTF8.GetBytes(query),
                Mentor = Encoding.ASCII.GetBytes(mentor),
                ChangesMentor = mentor.Length > 0,
                Creates = true,
                MustBeNew = true,
                StartKind = start == 0 ? SubscriptionStart.Unchanged : SubscriptionStart.Etag,
                Start = start,
            }
        );

    private OperationResult Put(string? name, string query, string mentor = "", long start = 0) =>
        Propose(Encode(name, query, mentor, start))[0];

    private OperationResult Update(long number, string name, SubscriptionCommand change) =>
        Propose(
            SubscriptionWriter.Put(
                Database.Number,
                key: default,
                name,
                new SubscriptionCommand
                {
                    Kind = SubscriptionCommandKind.Put,
                    Number = number,
                    Query = change.Query,
                    Mentor = change.Mentor,
                    ChangesMentor = change.ChangesMentor,
                    IsDisabled = change.IsDisabled,
                    IsPinned = change.IsPinned,
                }
            )
        )[0];

    private OperationResult Delete(string name) =>
        Propose(SubscriptionWriter.Delete(Database.Number, key: default, name))[0];

    private OperationResult Acknowledge(long number, long expected, long progress, long? version = null)
    {
        using var reader = Database.OpenReader();
        long current = version ?? SubscriptionRows.Find(reader, number)?.Version ?? 0;
        return Propose(
            SubscriptionWriter.Acknowledge(Database.Number, number, current, expected, progress, connectedTicks: 7)
        )[0];
    }

    private CommandOutcome Propose(CommandBuffer command)
    {
        var proposed = _node.Consensus.ProposeAsync(command, CancellationToken.None).AsTask();
        _node.Commit();
        Assert.True(proposed.IsCompletedSuccessfully);
        return proposed.Result;
    }

    private void Restart()
    {
        _node.Dispose();
        _disk.KillProcess();
        _node = SteppedNode.Open(_disk, "/data/node", _time);
    }
}
