using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Revisions;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Attachments;

/// <summary>Copies, moves and renames of attachments, as apply executes them.</summary>
public sealed class AttachmentCopyTests : IDisposable
{
    private readonly SimulatedDisk _disk = new("/data");
    private AttachedNode _node;

    public AttachmentCopyTests()
    {
        _node = AttachedNode.Create(_disk);
        _node.Node.Put("db", "Users/1", """{"a":1,"@metadata":{"@collection":"Users"}}""");
        _node.Node.Put("db", "users/2", """{"@metadata":{"@collection":"Users"}}""");
    }

    public void Dispose() => _node.Dispose();

    [Fact]
    public void A_copy_shares_the_content_and_tells_what_its_command_does_not_contain()
    {
        _node.Attach("users/1", "a", [1, 2]);
        var outcome = Copy("USERS/1", "A", "USERS/2", "b");
        Assert.Equal(("users/2", OperationStatus.Stored), (outcome[0].Id, outcome[0].Status));
        Assert.Equal(("text/plain", 2), (outcome[0].Attachment!.ContentType, outcome[0].Attachment!.Size));
        Assert.Contains(outcome[0].Attachment!.Hash.ToString(), _node.Json("users/2"), StringComparison.Ordinal);
        Assert.Contains(_node.ChangeVector(outcome), _node.Json("users/2"), StringComparison.Ordinal);
        Assert.Equal([1, 2], _node.Read("users/2", "b"));
        Assert.Equal((2, 1, 2), Counts());
        Assert.Equal(1, Copy("users/2", "b", "users/2", "c").Count);
        _node.DeleteDocument("users/1");
        Assert.Equal((2, 1, 2), Counts());
        _node.Collect();
        Assert.Equal([1, 2], _node.Read("users/2", "c"));
    }

    [Fact]
    public void A_move_gives_both_documents_a_version_and_no_content_is_released()
    {
        _node.Attach("users/1", "a", [1, 2]);
        var outcome = Move("users/1", "a", "users/2", "b");
        Assert.Equal(2, outcome.Count);
        Assert.Equal([], _node.Names("users/1")!);
        Assert.Equal(["b"], _node.Names("users/2")!);
        Assert.Contains($"A:{outcome[1].Etag}-", _node.Json("users/1"), StringComparison.Ordinal);
        Assert.Contains($"A:{outcome[0].Etag}-", _node.Json("users/2"), StringComparison.Ordinal);
        Assert.Equal((1, 1, 2), Counts());
        _node.Collect();
        Assert.Equal([1, 2], _node.Read("users/2", "b"));
    }

    [Fact]
    public void A_rename_gives_the_document_one_version_in_one_operation()
    {
        _node.Attach("users/1", "a", [1]);
        _node.Attach("users/1", "b", [2]);
        var outcome = Move("users/1", "A", "USERS/1", "c");
        Assert.Equal(("Users/1", 1), (outcome[0].Id, outcome.Count));
        Assert.Equal(["b", "c"], _node.Names("users/1")!);
        Assert.Equal([1], _node.Read("users/1", "c"));
        Assert.Equal((2, 2, 2), Counts());
    }

    [Fact]
    public void Ids_that_differ_in_the_case_of_other_letters_than_ascii_are_one_document()
    {
        _node.Node.Put("db", "größe/ÄÖ", "{}");
        _node.Attach("größe/äö", "a", [1]);
        Assert.Equal(1, Move("GRÖßE/äÖ", "a", "größe/ÄÖ", "b").Count);
        Assert.Equal(2, Move("größe/Äö", "b", "users/1", "b").Count);
        Assert.Equal([], _node.Names("größe/äö")!);
        Assert.Equal([1], _node.Read("users/1", "b"));
    }

    [Fact]
    public void A_name_that_is_taken_is_a_conflict_and_the_whole_batch_changes_nothing()
    {
        _node.Attach("users/1", "a", [1]);
        _node.Attach("users/2", "b", [2]);
        Assert.Equal(RejectionKind.ConcurrencyConflict, Copy("users/1", "a", "users/2", "B").Rejection?.Kind);
        Assert.Equal(RejectionKind.ConcurrencyConflict, Move("users/1", "a", "users/2", "b").Rejection?.Kind);
        Assert.Equal(RejectionKind.ConcurrencyConflict, Move("users/1", "a", "users/1", "A").Rejection?.Kind);
        using var writer = new BatchWriter(CommandKind.Batch, _node.Database);
        writer.CopyAttachment("users/2"u8, "c"u8, "users/1"u8, "a"u8, ExpectedChangeVector.None, moves: true);
        writer.CopyAttachment("users/2"u8, "d"u8, "users/1"u8, "a"u8, ExpectedChangeVector.None, moves: false);
        Assert.Equal(RejectionKind.AttachmentMissing, _node.Node.Propose(writer.Complete()).Rejection?.Kind);
        Assert.Equal(["a"], _node.Names("users/1")!);
        Assert.Equal(["b"], _node.Names("users/2")!);
        Assert.Equal((2, 2, 2), Counts());
    }

    [Fact]
    public void A_missing_attachment_or_document_refuses_the_batch()
    {
        _node.Attach("users/1", "a", [1]);
        Assert.Equal(RejectionKind.AttachmentMissing, Copy("users/1", "x", "users/2", "b").Rejection?.Kind);
        Assert.Equal(RejectionKind.AttachmentMissing, Move("none", "a", "users/2", "b").Rejection?.Kind);
        Assert.Equal(RejectionKind.AttachmentMissing, Move("none", "a", "none", "b").Rejection?.Kind);
        Assert.Equal(RejectionKind.DocumentMissing, Copy("users/1", "a", "none", "b").Rejection?.Kind);
        Assert.Equal((1, 1, 1), Counts());
    }

    [Fact]
    public void The_expected_change_vector_is_that_of_the_source()
    {
        string old = _node.ChangeVector(_node.Attach("users/1", "a", [1]));
        string current = _node.ChangeVector(_node.Attach("users/1", "a", [2]));
        Assert.Equal(RejectionKind.ConcurrencyConflict, Move("users/1", "a", "users/2", "b", old).Rejection?.Kind);
        Assert.Equal(RejectionKind.ConcurrencyConflict, Copy("users/1", "x", "users/2", "b", old).Rejection?.Kind);
        Assert.Null(Move("users/1", "a", "users/2", "b", current).Rejection);
        Assert.Equal([2], _node.Read("users/2", "b"));
    }

    [Fact]
    public void Revisions_of_both_documents_keep_what_they_had()
    {
        _node.Node.Run(
            CommandEncoder.ConfigureRevisions(_node.Database, new RevisionsConfiguration(new RevisionRule(), []))
        );
        _node.Attach("users/1", "a", [1]);
        Move("users/1", "a", "users/1", "b");
        Move("users/1", "b", "users/2", "c");
        _node.Totals(); // compares the references with the attachments of documents and revisions
        _node.DeleteDocument("users/2");
        _node.DeleteDocument("users/1");
        Assert.Equal(1, _node.Totals().Contents);
        _node.Collect();
        Assert.Single(_disk.Files, static path => path.Contains("/attachments/", StringComparison.Ordinal));
    }

    [Fact]
    public void A_large_document_is_a_source_and_a_destination()
    {
        string text = new('x', 200_000);
        _node.Node.Put("db", "large", $$"""{"text":"{{text}}"}""");
        _node.Attach("large", "a", [1]);
        _node.Node.Flush();
        Assert.Null(Move("large", "a", "users/1", "b").Rejection);
        Assert.Null(Move("users/1", "b", "large", "c").Rejection);
        Assert.Null(Move("large", "c", "large", "d").Rejection);
        Assert.Contains(text, _node.Json("large"), StringComparison.Ordinal);
        Assert.Equal([1], _node.Read("large", "d"));
    }

    [Fact]
    public void Copies_are_the_same_after_a_restart_and_a_retry_with_the_key_has_the_same_answer()
    {
        _node.Attach("users/1", "a", [1, 2]);
        Assert.True(IdempotencyKey.TryCreate("once"u8, out var key, out _));
        var first = _node.Node.Propose(Command("users/1", "a", "users/2", "b", moves: true, key: key));
        Restart();
        Assert.Equal([1, 2], _node.Read("users/2", "b"));
        var again = _node.Node.Propose(Command("users/1", "a", "users/2", "b", moves: true, key: key));
        Assert.Equal(first[0], again[0]);
        Assert.Equal(first[1], again[1]);
        Assert.Equal((1, 1, 2), Counts());
    }

    [Fact]
    public void A_document_gets_no_more_copies_than_its_list_can_have()
    {
        _node.Attach("users/1", "a", [1]);
        CommandOutcome outcome = default;
        int count = 0;
        while (outcome.Rejection is null)
        {
            outcome = Copy("users/1", "a", "users/2", $"{count:d4}-{new string('n', 400)}");
            count++;
        }

        Assert.Equal(RejectionKind.TooLarge, outcome.Rejection.Kind);
        Assert.Equal(count - 1, _node.Names("users/2")!.Length);
        Assert.Equal(count, _node.Totals().Attachments);
        string first = _node.Names("users/2")![0];
        Assert.Null(Move("users/2", first, "users/2", first + "x").Rejection); // needs room for one list only
    }

    [Fact]
    public void Copies_cost_what_reading_their_source_takes()
    {
        _node.Node.Put("db", "large", $$"""{"text":"{{new string('x', 200_000)}}"}""");
        _node.Attach("large", "a", [1]);
        var commands = new StringBuilder();
        for (int i = 0; i < 50; i++)
        {
            _node.Node.Put("db", $"small/{i}", "{}");
        }

        // 64 KiB of the source for each and its own document exceed the 256 MiB that a command may read.
        for (int i = 0; i < 4090; i++)
        {
            commands.Append(
                $$"""
                ,{"Id":"large","Name":"a","DestinationId":"small/{{i % 50}}","DestinationName":"{{i}}",
                "Type":"AttachmentCOPY"}
                """
            );
        }

        var refused = _node.Node.Propose(Parse(commands.ToString(1, commands.Length - 1), default)).Rejection;
        Assert.Equal(RejectionKind.TooLarge, refused?.Kind);
        Assert.Equal(1, _node.Totals().Attachments);
        Assert.Null(Copy("large", "a", "small/1", "b").Rejection);
    }

    private void Restart()
    {
        _node.Dispose();
        _disk.KillProcess();
        _node = AttachedNode.Open(_disk);
        _node.Detach("users/none", "x"); // applies the journal
    }

    private (long, long, long) Counts() => (_node.Totals().Attachments, _node.Totals().Contents, _node.Totals().Bytes);

    private CommandOutcome Copy(string source, string name, string id, string newName, string? expected = null) =>
        _node.Node.Propose(Command(source, name, id, newName, moves: false, expected));

    private CommandOutcome Move(string source, string name, string id, string newName, string? expected = null) =>
        _node.Node.Propose(Command(source, name, id, newName, moves: true, expected));

    private CommandBuffer Command(
        string source,
        string name,
        string id,
        string newName,
        bool moves,
        string? expected = null,
        IdempotencyKey key = default
    )
    {
        string vector = expected is null ? "null" : $"\"{expected}\"";
        return Parse(
            $$"""
            {"Id":"{{source}}","Name":"{{name}}","DestinationId":"{{id}}",
            "DestinationName":"{{newName}}","ChangeVector":{{vector}},
            "Type":"{{(moves ? "AttachmentMOVE" : "AttachmentCOPY")}}"}
            """,
            key
        );
    }

    private CommandBuffer Parse(string commands, IdempotencyKey key)
    {
        Assert.True(
            BatchRequestParser.TryParse(
                Encoding.UTF8.GetBytes($$"""{"Commands":[{{commands}}]}"""),
                _node.Database,
                key,
                maxBatchBytes: 1 << 20,
                out var batch,
                out var error,
                FormatLevel.Attachments
            ),
            error.What
        );
        return batch.Command;
    }
}
