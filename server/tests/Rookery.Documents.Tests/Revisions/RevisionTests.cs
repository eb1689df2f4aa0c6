using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Revisions;

namespace Rookery.Documents.Tests.Revisions;

/// <summary>Revisions as apply creates, keeps and removes them.</summary>
public sealed class RevisionTests : IDisposable
{
    private static readonly RevisionRule All = new();

    private readonly RevisedNode _node = new();

    public void Dispose() => _node.Dispose();

    [Fact]
    public void Each_version_of_a_document_is_kept_newest_first()
    {
        _node.Configure(All);
        _node.PutUser("users/1", "ann");
        _node.PutUser("Users/1", "bob");
        _node.Node.Put("db", "other", "{}");
        _node.PutUser("users/1", "eve");
        Assert.Equal(["\"name\":\"eve\"", "\"name\":\"bob\"", "\"name\":\"ann\""], _node.Bodies("USERS/1"));
        var revisions = _node.Read("users/1");
        Assert.Equal(_node.Etag("users/1"), revisions[0].Etag);
        Assert.Contains("\"@flags\":\"HasRevisions, Revision\"", revisions[2].Json, StringComparison.Ordinal);
        Assert.Contains("\"@id\":\"Users/1\"", revisions[1].Json, StringComparison.Ordinal);
        Assert.Contains("\"@flags\":\"HasRevisions\"", _node.Json("users/1"), StringComparison.Ordinal);
        Assert.Equal(4, _node.Total());
        _node.Restart();
        Assert.Equal(["\"name\":\"eve\"", "\"name\":\"bob\"", "\"name\":\"ann\""], _node.Bodies("users/1"));
    }

    [Fact]
    public void Without_a_configuration_there_are_no_revisions_and_no_rows()
    {
        _node.PutUser("users/1", "ann");
        _node.PutUser("users/1", "bob");
        _node.Delete("users/1");
        Assert.Empty(_node.Bodies("users/1"));
        Assert.Equal(0, _node.Total());
    }

    [Fact]
    public void The_rule_of_a_collection_comes_before_the_default()
    {
        _node.Configure(All, ("users", new RevisionRule { IsDisabled = true }));
        _node.PutUser("users/1", "ann");
        _node.Put("dogs/1", """{"@metadata":{"@collection":"Dogs"}}""");
        _node.Put("none", "{}");
        Assert.Empty(_node.Bodies("users/1"));
        Assert.Single(_node.Bodies("dogs/1"));
        Assert.Single(_node.Bodies("none"));

        _node.Configure(null, ("USERS", All));
        _node.PutUser("users/1", "bob");
        _node.Put("dogs/2", """{"@metadata":{"@collection":"Dogs"}}""");
        Assert.Equal(["\"name\":\"bob\""], _node.Bodies("users/1"));
        Assert.Empty(_node.Bodies("dogs/2"));
    }

    [Fact]
    public void Patches_bulk_puts_and_expiry_create_revisions()
    {
        _node.Configure(All);
        using (var writer = new BatchWriter(CommandKind.BulkPut, _node.Database))
        {
            using var parser = Rookery.Documents.Parsing.DocumentParser.Rent();
            Assert.True(parser.TryParse("{\"n\":1}"u8, out var document, out _));
            writer.Put("a"u8, default, document);
            writer.Put("a"u8, default, document);
            _node.Node.Run(writer.Complete());
        }

        Assert.Null(_node.Batch("""{"Id":"a","Type":"PATCH","Patch":{"Script":"this.n = 5"}}""").Rejection);
        Assert.Equal(["\"n\":5", "\"n\":1", "\"n\":1"], _node.Bodies("a"));
        using (var expiry = new ExpiryWriter(_node.Database))
        {
            expiry.Add("a"u8, _node.Etag("a"));
            _node.Node.Run(expiry.Complete());
        }

        Assert.Equal(["-", "\"n\":5", "\"n\":1", "\"n\":1"], _node.Bodies("a"));
    }

    [Fact]
    public void Cluster_wide_transactions_create_revisions()
    {
        _node.Configure(All);
        foreach (int n in (int[])[1, 2])
        {
            Assert.True(
                BatchRequestParser.TryParse(
                    System.Text.Encoding.UTF8.GetBytes(
                        $$$"""
                        {"Commands":[{"Id":"a","Document":{"n":{{{n}}}},"Type":"PUT"}],"TransactionMode":"ClusterWide"}
                        """
                    ),
                    _node.Database,
                    default,
                    1 << 20,
                    out var batch,
                    out var error,
                    Rookery.Documents.Nodes.FormatLevel.Newest,
                    hasGuards: false
                ),
                error.ToString()
            );
            _node.Node.Run(batch.Command);
        }

        Assert.Equal(["\"n\":2", "\"n\":1"], _node.Bodies("a"));
    }

    [Fact]
    public void A_deletion_is_a_revision_and_a_document_stored_again_gets_its_revisions_back()
    {
        _node.Configure(All);
        _node.PutUser("users/1", "ann");
        _node.Delete("users/1");
        Assert.Equal(["-", "\"name\":\"ann\""], _node.Bodies("users/1"));
        string deletion = _node.Read("users/1")[0].Json;
        Assert.Contains("\"@flags\":\"HasRevisions, DeleteRevision\"", deletion, StringComparison.Ordinal);
        Assert.Contains("\"@collection\":\"Users\"", deletion, StringComparison.Ordinal);

        _node.Configure(null);
        _node.PutUser("users/1", "bob");
        Assert.Equal(["-", "\"name\":\"ann\""], _node.Bodies("users/1"));
        _node.Configure(All);
        _node.PutUser("users/1", "eve");
        Assert.Equal(["\"name\":\"eve\"", "-", "\"name\":\"ann\""], _node.Bodies("users/1"));
    }

    [Fact]
    public void The_first_deletion_of_a_document_from_before_the_configuration_keeps_its_content()
    {
        _node.PutUser("users/1", "ann");
        _node.PutUser("users/2", "bob");
        _node.Configure(All);
        _node.Delete("users/1");
        _node.PutUser("users/2", "eve");
        Assert.Equal(["-", "\"name\":\"ann\""], _node.Bodies("users/1"));
        Assert.Equal(["\"name\":\"eve\""], _node.Bodies("users/2")); // as RavenDB documents it
    }

    [Fact]
    public void A_rule_can_remove_all_revisions_with_the_document()
    {
        _node.Configure(new RevisionRule { PurgesOnDelete = true });
        _node.PutUser("users/1", "ann");
        _node.PutUser("users/1", "bob");
        _node.Delete("users/1");
        Assert.Empty(_node.Bodies("users/1"));
        Assert.Equal(0, _node.Total());
        _node.PutUser("users/1", "eve");
        Assert.Single(_node.Bodies("users/1"));
    }

    [Fact]
    public void Only_the_newest_revisions_within_the_limit_are_kept()
    {
        _node.Configure(new RevisionRule { MinimumToKeep = 3 });
        for (int i = 0; i < 100; i++)
        {
            _node.PutUser("users/1", $"n{i}");
        }

        Assert.Equal(["\"name\":\"n99\"", "\"name\":\"n98\"", "\"name\":\"n97\""], _node.Bodies("users/1"));
        Assert.Equal(3, _node.Total());
    }

    [Fact]
    public void A_revision_younger_than_the_minimum_age_is_kept_beyond_the_limit()
    {
        _node.Configure(new RevisionRule { MinimumToKeep = 2, MinimumAgeTicks = TimeSpan.FromHours(1).Ticks });
        for (int i = 0; i < 4; i++)
        {
            _node.PutUser("users/1", $"n{i}");
        }

        Assert.Equal(4, _node.Bodies("users/1").Length);
        _node.Time.Advance(TimeSpan.FromHours(2));
        _node.PutUser("users/1", "new");
        Assert.Equal(["\"name\":\"new\"", "\"name\":\"n3\""], _node.Bodies("users/1"));
    }

    [Fact]
    public void One_change_removes_at_most_as_many_revisions_as_configured()
    {
        _node.Configure(All);
        for (int i = 0; i < 10; i++)
        {
            _node.PutUser("users/1", $"n{i}");
        }

        _node.Configure(new RevisionRule { MinimumToKeep = 1, MaximumDeletes = 4 });
        _node.PutUser("users/1", "a");
        Assert.Equal(7, _node.Bodies("users/1").Length);
        _node.PutUser("users/1", "b");
        Assert.Equal(4, _node.Bodies("users/1").Length);
        _node.PutUser("users/1", "c");
        Assert.Equal(["\"name\":\"c\""], _node.Bodies("users/1"));
    }

    [Fact]
    public void A_forced_revision_needs_no_configuration_and_changes_the_change_vector_once()
    {
        _node.PutUser("users/1", "ann");
        long before = _node.Etag("users/1");
        const string Force = """{"Id":"users/1","Type":"ForceRevisionCreation"}""";
        Assert.Equal(OperationStatus.Stored, _node.Batch(Force)[0].Status);
        long after = _node.Etag("users/1");
        Assert.True(after > before);
        Assert.Equal(OperationStatus.NotModified, _node.Batch(Force)[0].Status);
        Assert.Equal(after, _node.Etag("users/1"));
        var revision = Assert.Single(_node.Read("users/1"));
        Assert.Equal((after, "\"name\":\"ann\""), (revision.Etag, revision.Body));
        Assert.Contains("ForceCreated", revision.Json, StringComparison.Ordinal);

        // A later version is no revision, and the forced one stays.
        _node.PutUser("users/1", "bob");
        _node.PutUser("users/1", "eve");
        Assert.Equal(["\"name\":\"ann\""], _node.Bodies("users/1"));
        Assert.Equal(
            RejectionKind.NotPossible,
            _node.Batch("""{"Id":"none","Type":"ForceRevisionCreation"}""").Rejection!.Kind
        );
    }

    [Fact]
    public void A_reader_that_pauses_holds_no_memory_and_reads_its_revision_again()
    {
        _node.Configure(All);
        for (int i = 0; i < 3; i++)
        {
            _node.PutUser("users/1", $"n{i}");
        }

        using var reader = _node.Node.Database("db").OpenReader();
        using var revisions = new RevisionReader(reader);
        Assert.True(revisions.TrySelect("users/1"u8));
        for (int i = 2; i >= 0; i--)
        {
            Assert.True(revisions.MoveNext());
            revisions.Pause();
            Assert.Equal(0, revisions.Length);
            revisions.Resume();
            Assert.Equal($"\"name\":\"n{i}\"", System.Text.Encoding.UTF8.GetString(revisions.View.Body));
        }

        Assert.False(revisions.MoveNext());
    }

    [Fact]
    public void A_put_can_force_a_revision_of_what_it_replaces()
    {
        const string Put = """
            {"Id":"a","Type":"PUT","Document":{"n":NUMBER},"ForceRevisionCreationStrategy":"Before"}
            """;
        var refusal = _node.Batch(Put.Replace("NUMBER", "1", StringComparison.Ordinal)).Rejection;
        Assert.Contains("was not saved on the server yet", refusal?.Message, StringComparison.Ordinal);
        Assert.Null(_node.Batch("""{"Id":"a","Type":"PUT","Document":{"n":1}}""").Rejection);
        Assert.Empty(_node.Bodies("a"));
        Assert.Null(_node.Batch(Put.Replace("NUMBER", "2", StringComparison.Ordinal)).Rejection);
        Assert.Equal(["\"n\":1"], _node.Bodies("a"));
        Assert.Null(_node.Batch(Put.Replace("NUMBER", "3", StringComparison.Ordinal)).Rejection);
        Assert.Equal(["\"n\":2", "\"n\":1"], _node.Bodies("a"));
        _node.Delete("a");
        Assert.Equal(["-", "\"n\":2", "\"n\":1"], _node.Bodies("a"));
    }

    [Fact]
    public void Revisions_are_removed_by_change_vector_and_the_others_stay_readable()
    {
        _node.Configure(All);
        for (int i = 0; i < 6; i++)
        {
            _node.PutUser("users/1", new string('x', 200) + i);
        }

        var before = _node.Read("users/1");
        long[] removed = [before[0].Etag, before[2].Etag, before[4].Etag];
        Assert.Equal(3, _node.Act("users/1", RevisionAction.Delete, etags: removed)[0].Low);
        Assert.Equal([before[1].Body, before[3].Body, before[5].Body], _node.Bodies("users/1"));
        _node.PutUser("users/1", "last");
        Assert.Equal(["\"name\":\"last\"", before[1].Body, before[3].Body, before[5].Body], _node.Bodies("users/1"));
        Assert.Equal(4, _node.Act("users/1", RevisionAction.Delete)[0].Low);
        Assert.Empty(_node.Bodies("users/1"));
        Assert.Equal(0, _node.Total());
    }

    [Fact]
    public void Enforcing_the_configuration_removes_what_it_does_not_keep_but_forced_revisions()
    {
        _node.PutUser("users/1", "forced");
        Assert.Null(_node.Batch("""{"Id":"users/1","Type":"ForceRevisionCreation"}""").Rejection);
        _node.Configure(All);
        for (int i = 0; i < 5; i++)
        {
            _node.PutUser("users/1", $"n{i}");
        }

        _node.Configure(new RevisionRule { MinimumToKeep = 2 });
        Assert.Equal(3, _node.Act("users/1", RevisionAction.Enforce)[0].Low);
        Assert.Equal(["\"name\":\"n4\"", "\"name\":\"n3\"", "\"name\":\"forced\""], _node.Bodies("users/1"));
        _node.Configure(new RevisionRule { IsDisabled = true });
        Assert.Equal(0, _node.Act("users/1", RevisionAction.Enforce, forced: true)[0].Low);
        _node.Configure(null);
        Assert.Equal(2, _node.Act("users/1", RevisionAction.Enforce)[0].Low);
        Assert.Equal(["\"name\":\"forced\""], _node.Bodies("users/1"));
        Assert.Equal(1, _node.Act("users/1", RevisionAction.Enforce, forced: true)[0].Low);
        Assert.Empty(_node.Bodies("users/1"));
    }

    [Fact]
    public void A_document_is_reverted_to_a_revision_also_after_its_deletion()
    {
        _node.Configure(All);
        for (int i = 0; i < 40; i++)
        {
            _node.PutUser("users/1", new string('x', 100) + i);
        }

        var first = _node.Read("users/1")[^1];
        Assert.Equal(OperationStatus.Stored, _node.Act("users/1", RevisionAction.Revert, first.Etag)[0].Status);
        Assert.Contains(first.Body, _node.Json("users/1"), StringComparison.Ordinal);
        Assert.Equal(41, _node.Bodies("users/1").Length);
        _node.Delete("users/1");
        long deletion = _node.Read("users/1")[0].Etag;
        Assert.Equal(RejectionKind.Invalid, _node.Act("users/1", RevisionAction.Revert, deletion).Rejection!.Kind);
        Assert.Equal(OperationStatus.Stored, _node.Act("users/1", RevisionAction.Revert, first.Etag)[0].Status);
        Assert.Contains(first.Body, _node.Json("users/1"), StringComparison.Ordinal);
        Assert.Equal(RejectionKind.Invalid, _node.Act("users/2", RevisionAction.Revert, first.Etag).Rejection!.Kind);
    }

    [Fact]
    public void A_revision_shows_the_values_that_counters_had()
    {
        _node.Configure(All);
        _node.PutUser("users/1", "ann");
        const string Increment = """
            {"Id":"users/1","Type":"Counters","Counters":{"DocumentId":"users/1","Operations":[
            {"Type":"Increment","CounterName":"likes","Delta":3},{"Type":"Increment","CounterName":"Äh","Delta":-1}]}}
            """;
        Assert.Null(_node.Batch(Increment).Rejection);
        Assert.Null(_node.Batch(Increment).Rejection);
        Assert.Equal(2, _node.Bodies("users/1").Length);
        _node.PutUser("users/1", "bob");
        var revisions = _node.Read("users/1");
        Assert.Contains("\"@counters-snapshot\":{\"likes\":6,\"Äh\":-2}", revisions[0].Json, StringComparison.Ordinal);
        Assert.Contains("\"@counters-snapshot\":{\"likes\":3,\"Äh\":-1}", revisions[1].Json, StringComparison.Ordinal);
        Assert.DoesNotContain("@counters", revisions[2].Json, StringComparison.Ordinal);

        Assert.Null(_node.Act("users/1", RevisionAction.Revert, revisions[1].Etag).Rejection);
        Assert.Contains(
            "\"@counters-snapshot\":{\"likes\":3,\"Äh\":-1}",
            _node.Read("users/1")[0].Json,
            StringComparison.Ordinal
        );
        using var reader = _node.Node.Database("db").OpenReader();
        Assert.Equal(3, reader.ReadCounter("users/1"u8, "likes"u8, out _));
        Assert.Equal(2, reader.ReadStatistics().DocumentCounters);
    }
}
