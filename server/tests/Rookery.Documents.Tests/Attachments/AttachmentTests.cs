using System.Text.Json;
using Rookery.Documents.Consensus;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Attachments;

/// <summary>Attachments as apply executes their commands.</summary>
public sealed class AttachmentTests : IDisposable
{
    private readonly SimulatedDisk _disk = new("/data");
    private AttachedNode _node;

    public AttachmentTests()
    {
        _node = AttachedNode.Create(_disk);
        _node.Node.Put("db", "Users/1", """{"a":1,"@metadata":{"@collection":"Users"}}""");
    }

    public void Dispose() => _node.Dispose();

    [Fact]
    public void A_document_lists_its_attachments_by_name_and_each_change_gives_it_a_new_version()
    {
        var first = _node.Attach("users/1", "b", [1, 2, 3]);
        var second = _node.Attach("USERS/1", "A \"\n\u05d0", []);
        Assert.True(second[0].Etag > first[0].Etag);
        Assert.Equal("Users/1", second[0].Id);
        using var json = JsonDocument.Parse(_node.Json("users/1"));
        Assert.Equal(1, json.RootElement.GetProperty("a").GetInt32());
        var metadata = json.RootElement.GetProperty("@metadata");
        Assert.Equal("HasAttachments", metadata.GetProperty("@flags").GetString());
        Assert.Equal("Users/1", metadata.GetProperty("@id").GetString());
        Assert.Equal(_node.ChangeVector(second), metadata.GetProperty("@change-vector").GetString());
        var attachments = metadata.GetProperty("@attachments");
        Assert.Equal(2, attachments.GetArrayLength());
        Assert.Equal("A \"\n\u05d0", attachments[0].GetProperty("Name").GetString());
        Assert.Equal(0, attachments[0].GetProperty("Size").GetInt32());
        Assert.Equal("b", attachments[1].GetProperty("Name").GetString());
        Assert.Equal("text/plain", attachments[1].GetProperty("ContentType").GetString());
        Assert.Equal(3, attachments[1].GetProperty("Size").GetInt32());
        // The hash that RavenDB has for these bytes.
        Assert.Equal("EcDnm3HDl2zNDALRMQ4lFsCO3J2Lb1fM1oDWOk2Octo=", attachments[1].GetProperty("Hash").GetString());
    }

    [Fact]
    public void Attachments_stay_when_their_document_is_written_patched_or_moved_to_another_collection()
    {
        _node.Attach("users/1", "a", [1]);
        _node.Node.Put(
            "db",
            "users/1",
            """{"b":2,"@metadata":{"@collection":"Others","@flags":"x","@attachments":[]}}"""
        );
        _node.Node.Flush();
        Assert.Equal(["a"], _node.Names("users/1")!);
        Assert.Contains("\"b\":2", _node.Json("users/1"), StringComparison.Ordinal);
        Assert.Equal([1], _node.Read("users/1", "A"));
        Assert.Equal(1, _node.Totals().Attachments);
    }

    [Fact]
    public void A_large_document_keeps_its_body_and_lists_its_attachments()
    {
        string text = new('x', 200_000);
        _node.Node.Put("db", "large", $$"""{"text":"{{text}}"}""");
        _node.Attach("large", "a", [1]);
        _node.Node.Flush();
        Assert.Equal(["a"], _node.Names("large")!);
        Assert.Contains(text, _node.Json("large"), StringComparison.Ordinal);
        _node.Node.Put("db", "large", $$"""{"text":"{{text}}","more":1}""");
        Assert.Equal(["a"], _node.Names("large")!);
        _node.DeleteDocument("large");
        Assert.Equal(default, _node.Totals());
    }

    [Fact]
    public void References_are_counted_by_content_and_end_with_attachments_and_documents()
    {
        _node.Node.Put("db", "users/2", "{}");
        _node.Attach("users/1", "a", [1, 2]);
        _node.Attach("users/1", "b", [1, 2]);
        _node.Attach("users/2", "a", [1, 2]);
        _node.Attach("users/2", "c", [3]);
        Assert.Equal((4, 2, 3), Counts());
        _node.Attach("users/2", "c", [1, 2]);
        Assert.Equal((4, 1, 2), Counts());
        Assert.Equal(OperationStatus.Deleted, _node.Detach("users/1", "B")[0].Status);
        Assert.Equal((3, 1, 2), Counts());
        _node.DeleteDocument("users/2");
        Assert.Equal((1, 1, 2), Counts());
        _node.DeleteDocument("users/1");
        Assert.Equal((0, 0, 0), Counts());

        (long, long, long) Counts() => (_node.Totals().Attachments, _node.Totals().Contents, _node.Totals().Bytes);
    }

    [Fact]
    public void An_attachment_changes_only_under_its_own_change_vector()
    {
        var first = _node.Attach("users/1", "a", [1], expected: "");
        Assert.Null(first.Rejection);
        Assert.Equal(RejectionKind.ConcurrencyConflict, _node.Attach("users/1", "a", [2], "").Rejection?.Kind);
        _node.Attach("users/1", "b", [3]); // the document has a new version, but the attachment `a` has not
        var second = _node.Attach("users/1", "a", [2], _node.ChangeVector(first));
        Assert.Null(second.Rejection);
        Assert.Equal(
            RejectionKind.ConcurrencyConflict,
            _node.Detach("users/1", "a", _node.ChangeVector(first)).Rejection?.Kind
        );
        Assert.Null(_node.Detach("users/1", "a", _node.ChangeVector(second)).Rejection);
        Assert.Equal(["b"], _node.Names("users/1")!);
    }

    [Fact]
    public void A_missing_document_gets_no_attachment_and_removing_what_is_missing_changes_nothing()
    {
        Assert.Equal(RejectionKind.DocumentMissing, _node.Attach("none", "a", [1]).Rejection?.Kind);
        Assert.Equal(OperationStatus.NotFound, _node.Detach("none", "a")[0].Status);
        Assert.Equal(OperationStatus.NotFound, _node.Detach("users/1", "a")[0].Status);
        Assert.Equal(default, _node.Totals());
    }

    [Fact]
    public void A_document_whose_deletion_is_in_a_run_can_be_deleted_and_gets_no_attachment()
    {
        _node.Attach("users/1", "a", [1]);
        _node.DeleteDocument("users/1");
        _node.Node.Put("db", "other", "{}");
        _node.Node.Flush();
        Assert.Null(_node.DeleteDocument("users/1").Rejection);
        Assert.Equal(RejectionKind.DocumentMissing, _node.Attach("users/1", "a", [1]).Rejection?.Kind);
    }

    [Fact]
    public void A_name_that_no_list_can_hold_is_refused_where_a_route_did_not_check_it()
    {
        var outcome = _node.Attach("users/1", new string('n', ushort.MaxValue), [1]);
        Assert.Equal(RejectionKind.TooLarge, outcome.Rejection?.Kind);
        Assert.Null(_node.Attach("users/1", "a", [1]).Rejection);
    }

    [Fact]
    public void A_document_has_a_bounded_number_of_attachments()
    {
        CommandOutcome outcome = default;
        int count = 0;
        while (outcome.Rejection is null)
        {
            outcome = _node.Attach("users/1", $"{count:d4}-{new string('n', 400)}", [1]);
            count++;
        }

        Assert.Equal(RejectionKind.TooLarge, outcome.Rejection.Kind);
        Assert.Equal(count - 1, _node.Names("users/1")!.Length);
        Assert.Equal(count - 1, _node.Totals().Attachments);
        Assert.InRange(count, 50, 100);
    }

    [Fact]
    public void Attachments_survive_a_restart()
    {
        byte[] content = [.. Enumerable.Range(0, 200_000).Select(i => (byte)(i * 31))];
        _node.Attach("users/1", "a", content);
        _node.Attach("users/1", "b", [1]);
        _node.Detach("users/1", "b");
        _node.Dispose();
        _disk.KillProcess();
        _node = AttachedNode.Open(_disk);
        _node.Detach("users/none", "x"); // applies the journal
        Assert.Equal(content, _node.Read("users/1", "a"));
        Assert.Equal(["a"], _node.Names("users/1")!);
        _node.Collect();
        Assert.Single(_disk.Files, static path => path.Contains("/attachments/", StringComparison.Ordinal));
    }
}
