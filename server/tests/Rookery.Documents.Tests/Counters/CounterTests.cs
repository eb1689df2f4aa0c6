using System.Buffers;
using System.Text;
using System.Text.Json;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Ids;
using Rookery.Documents.Nodes;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;
using OperationStatus = Rookery.Documents.Consensus.OperationStatus;

namespace Rookery.Documents.Tests.Counters;

/// <summary>Counters of documents as apply executes them.</summary>
public sealed class CounterTests : IDisposable
{
    private readonly SimulatedDisk _disk = new("/data");
    private readonly SimulatedTimeProvider _time = new(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero));
    private SteppedNode _node;

    public CounterTests()
    {
        _node = SteppedNode.Open(_disk, "/data/node", _time);
        _node.CreateDatabase("db");
        _node.Put("db", "users/1", """{"name":"ann","@metadata":{"@collection":"Users","mine":1}}""");
    }

    public void Dispose() => _node.Dispose();

    [Fact]
    public void Increments_add_up_and_names_are_compared_without_case()
    {
        Assert.Equal(5, Increment("users/1", "Likes", delta: 5));
        Assert.Equal(3, Increment("USERS/1", "LIKES", delta: -2));
        Assert.Equal(0, Increment("users/1", "zero", delta: 0));
        Assert.Equal(3, Read("users/1", "likes"));
        Assert.Equal(2, Count());
        Assert.Null(Read("users/1", "like"));
        Assert.Null(Read("users/2", "likes"));
    }

    [Fact]
    public void A_document_changes_once_for_a_request_that_creates_or_deletes_counters()
    {
        long before = Etag("users/1");
        var created = Change("users/1", ("Increment", "b", 1), ("Increment", "A", 1), ("Increment", "c", 1));
        long after = Etag("users/1");
        Assert.Equal((after, 4L), (created[2].Etag, after - before + 1));
        Assert.Equal((before, before), (created[0].Etag, created[1].Etag));
        Assert.Equal("""["A","b","c"]""", Metadata("users/1").GetProperty("@counters").GetRawText());
        Assert.Equal("HasCounters", Metadata("users/1").GetProperty("@flags").GetString());
        Assert.Equal(1, Metadata("users/1").GetProperty("mine").GetInt32());

        Assert.Equal(after, Change("users/1", ("Increment", "b", 1))[0].Etag);
        Assert.Equal(after, Etag("users/1"));

        Change("users/1", ("Delete", "a", 0), ("Delete", "B", 0), ("Delete", "c", 0));
        Assert.True(Etag("users/1") > after);
        Assert.False(Metadata("users/1").TryGetProperty("@counters", out _));
        Assert.False(Metadata("users/1").TryGetProperty("@flags", out _));
        Assert.Equal(0, Count());
    }

    [Fact]
    public void A_put_and_a_patch_of_the_document_keep_its_counters_and_a_delete_removes_them()
    {
        Increment("users/1", "likes", delta: 5);
        _node.Put("db", "Users/1", """{"name":"bob","@metadata":{"@collection":"People","@counters":["forged"]}}""");
        Assert.Equal("""["likes"]""", Metadata("users/1").GetProperty("@counters").GetRawText());
        Assert.Equal(6, Increment("users/1", "likes", delta: 1));
        _node.Put("db", "other", "{}");
        Increment("other", "likes", delta: 9);

        _node.Run(CommandEncoder.Delete(Database, "users/1"u8, expected: default, key: default));
        Assert.Null(Read("users/1", "likes"));
        Assert.Equal((9, 1), (Read("other", "likes"), Count()));
        _node.Put("db", "users/1", "{}");
        Assert.False(Metadata("users/1").TryGetProperty("@counters", out _));
        Assert.Equal(1, Increment("users/1", "likes", delta: 1));
    }

    [Fact]
    public void A_counter_of_a_missing_document_is_refused_and_nothing_of_the_batch_is_stored()
    {
        var refused = Propose(
            """
            {"Documents":[{"DocumentId":"users/1","Operations":[{"Type":"Increment","CounterName":"a","Delta":1}]},
            {"DocumentId":"users/9","Operations":[{"Type":"Increment","CounterName":"a","Delta":1}]}]}
            """
        ).Rejection!;
        Assert.Equal(
            (RejectionKind.DocumentMissing, 1, "users/9"),
            (refused.Kind, refused.Operation, refused.DocumentId)
        );
        Assert.Null(Read("users/1", "a"));
        Assert.Equal(0, Count());
        Assert.False(Metadata("users/1").TryGetProperty("@counters", out _));
    }

    [Theory]
    [InlineData(long.MaxValue, 1)]
    [InlineData(long.MinValue, -1)]
    public void A_sum_beyond_64_bits_is_refused_and_the_counter_keeps_its_value(long value, long delta)
    {
        Assert.Equal(value, Increment("users/1", "a", value));
        var refused = Propose(Body("users/1", ("Increment", "a", delta))).Rejection!;
        Assert.Equal(RejectionKind.CounterOverflow, refused.Kind);
        Assert.Equal(value, Read("users/1", "a"));
        Assert.Equal(value - (2 * delta), Increment("users/1", "a", -2 * delta));
    }

    [Fact]
    public void A_request_refused_for_another_reason_does_not_reveal_an_overflow()
    {
        Increment("users/1", "a", long.MaxValue - 5);
        foreach (long delta in new long[] { 1, 9 })
        {
            var refused = Propose(
                $$"""
                {"Documents":[{"DocumentId":"users/1","Operations":[
                {"Type":"Increment","CounterName":"a","Delta":{{delta}}},{"Type":"Get","CounterName":"a"}]},
                {"DocumentId":"users/9","Operations":[{"Type":"Increment","CounterName":"a","Delta":1}]}]}
                """
            ).Rejection!;
            Assert.Equal((RejectionKind.DocumentMissing, 2), (refused.Kind, refused.Operation));
        }

        Assert.Equal((long.MaxValue - 5, 1), (Read("users/1", "a"), Count()));
    }

    [Fact]
    public void A_get_without_a_name_finds_nothing()
    {
        Assert.True(
            TryParse(
                """{"Documents":[{"DocumentId":"users/1","Operations":[{"Type":"Get","CounterName":null}]}]}""",
                default,
                out var command,
                out _
            )
        );
        Assert.Equal(OperationStatus.NotFound, _node.Propose(command!)[0].Status);
    }

    [Fact]
    public void A_repeated_request_increments_once_and_has_the_value_of_the_first()
    {
        var key = new IdempotencyKey(1, 2);
        Assert.Equal(5, Propose(Body("users/1", ("Increment", "a", 5)), key)[0].Low);
        Increment("users/1", "a", delta: 1);
        Assert.Equal(5, Propose(Body("users/1", ("Increment", "a", 5)), key)[0].Low);
        Assert.Equal(6, Read("users/1", "a"));
    }

    [Fact]
    public void Deletes_and_gets_see_the_operations_before_them()
    {
        var results = Change(
            "users/1",
            ("Get", "a", 0),
            ("Increment", "a", 2),
            ("Get", "a", 0),
            ("Delete", "a", 0),
            ("Get", "a", 0),
            ("Increment", "a", 7)
        );
        Assert.Equal(
            [
                (OperationStatus.NotFound, 0L),
                (OperationStatus.Numbered, 2),
                (OperationStatus.Numbered, 2),
                (OperationStatus.Deleted, 0),
                (OperationStatus.NotFound, 0),
                (OperationStatus.Numbered, 7),
            ],
            results.Select(result => (result.Status, result.Low))
        );
        Assert.Equal((7, 1), (Read("users/1", "a"), Count()));
    }

    [Fact]
    public void Counters_survive_a_flush_and_a_restart_and_many_belong_to_a_large_document()
    {
        _node.Put("db", "large", $$"""{"text":"{{new string('x', 100_000)}}"}""");
        for (int i = 0; i < 3; i++)
        {
            var next = Enumerable.Range(i * 1000, 1000).Select(n => ("Increment", $"counter {n:D5} ü", (long)n));
            Change("large", [.. next]);
        }

        _node.Flush();
        _node.Dispose();
        _node = SteppedNode.Open(_disk, "/data/node", _time);
        Assert.Equal((2999, 3000), (Read("large", "COUNTER 02999 Ü"), Count()));
        Assert.Equal(3000, Metadata("large").GetProperty("@counters").GetArrayLength());
        string[] names = [.. Metadata("large").GetProperty("@counters").EnumerateArray().Select(n => n.GetString()!)];
        Assert.Equal(names.Order(StringComparer.Ordinal), names);
        Assert.Equal(3000, Increment("large", "counter 02999 ü", delta: 1));
        _node.Run(CommandEncoder.Delete(Database, "large"u8, expected: default, key: default));
        Assert.Equal(0, Count());
    }

    [Fact]
    public void The_names_of_the_counters_of_one_document_have_a_limit()
    {
        string Name(int i) => $"{i:D6}{new string('n', CounterName.MaxBytes - 6)}";
        var most = Enumerable.Range(0, CounterName.MaxBytesPerDocument / (CounterName.MaxBytes + 4));
        Change("users/1", [.. most.Select(i => ("Increment", Name(i), 1L))]);
        int count = Count();
        var refused = Propose(Body("users/1", ("Increment", Name(999_999), 1))).Rejection!;
        Assert.Equal(RejectionKind.TooLarge, refused.Kind);
        Assert.Equal(count, Count());
        Assert.Equal(2, Increment("users/1", Name(0), delta: 1));
    }

    [Fact]
    public void Increments_of_existing_counters_make_no_index_stale()
    {
        Increment("users/1", "a", delta: 1);
        long etag = _node.Database("db").LastEtagForIndexes;
        Increment("users/1", "a", delta: 1);
        Assert.Equal(etag, _node.Database("db").LastEtagForIndexes);
        Increment("users/1", "b", delta: 1);
        Assert.True(_node.Database("db").LastEtagForIndexes > etag);
    }

    [Fact]
    public void Refused_and_repeated_requests_make_no_index_stale()
    {
        var key = new IdempotencyKey(3, 4);
        Propose(Body("users/1", ("Increment", "a", 1)), key);
        long etag = _node.Database("db").LastEtagForIndexes;
        Assert.Null(Propose(Body("users/1", ("Increment", "a", 1)), key).Rejection);
        Assert.NotNull(Propose(Body("users/9", ("Increment", "a", 1))).Rejection);
        Assert.Equal(etag, _node.Database("db").LastEtagForIndexes);
    }

    [Fact]
    public void A_counter_that_a_request_creates_and_deletes_leaves_the_document_as_it_is()
    {
        long before = Etag("users/1");
        Assert.Equal(before, Change("users/1", ("Increment", "x", 1), ("Delete", "x", 0))[1].Etag);
        Increment("users/1", "a", 1);
        before = Etag("users/1");
        Change("users/1", ("Increment", "x", 1), ("Delete", "X", 0), ("Delete", "a", 0), ("Increment", "a", 3));
        Assert.Equal((before, 1, 3L), (Etag("users/1"), Count(), Read("users/1", "a")));
        Change("users/1", ("Delete", "a", 0), ("Increment", "A", 4));
        Assert.True(Etag("users/1") > before);
        Assert.Equal("""["A"]""", Metadata("users/1").GetProperty("@counters").GetRawText());
    }

    [Theory]
    [InlineData("""{"Documents":[{"DocumentId":"a","Operations":[]}]}""", "no Operations")]
    [InlineData(
        """{"Documents":[{"DocumentId":"a","Operations":[{"Type":"Increment","CounterName":"a"}]}]}""",
        "Delta"
    )]
    [InlineData(
        """{"Documents":[{"DocumentId":"a","Operations":[{"Type":"Increment","CounterName":"a","Delta":1.5}]}]}""",
        "whole number"
    )]
    [InlineData("""{"Documents":[{"DocumentId":"a","Operations":[{"Type":"Put","CounterName":"a"}]}]}""", "'Put'")]
    [InlineData("""{"Documents":[{"DocumentId":"a","Operations":[{"Type":"Delete","CounterName":""}]}]}""", "name")]
    [InlineData("""{"Documents":[{"Operations":[{"Type":"Get","CounterName":"a"}]}]}""", "id is empty")]
    [InlineData(
        """{"Documents":[{"DocumentId":"a","Operations":[{"Type":"Get","CounterName":"a","DocumentId":"b"}]}]}""",
        "differs"
    )]
    [InlineData(
        """{"Documents":[{"Operations":[{"Type":"Get","CounterName":"a","DocumentId":"b"}],"DocumentId":"a"}]}""",
        "differs"
    )]
    [InlineData(
        """{"Documents":[{"DocumentId":"a","Operations":[{"Type":"Get","CounterName":"a","DocumentId":7}]}]}""",
        "string"
    )]
    [InlineData("""{"FromEtl":true,"Documents":[]}""", "FromEtl")]
    [InlineData("{}", "no Documents")]
    public void Invalid_bodies_are_refused_with_the_reason(string body, string text)
    {
        Assert.False(TryParse(body, key: default, out _, out string error));
        Assert.Contains(text, error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("\"A\"")]
    [InlineData("\"\"")]
    [InlineData("null")]
    public void An_operation_may_repeat_the_id_of_its_document(string id) =>
        Assert.True(
            TryParse(
                $$"""{"Documents":[{"DocumentId":"a","Operations":[{"Type":"Get","CounterName":"c","DocumentId":{{id}}}]}]}""",
                key: default,
                out _,
                out _
            )
        );

    [Fact]
    public void Below_their_format_level_counters_are_refused() =>
        Assert.False(
            CounterBatchParser.TryParse(
                Encoding.UTF8.GetBytes(Body("a", ("Increment", "a", 1))),
                Database,
                key: default,
                maxBatchBytes: 1 << 20,
                FormatLevel.Counters - 1,
                out _,
                out _,
                out var error
            ) || !error.ToString().Contains("finalize-upgrade", StringComparison.Ordinal)
        );

    private uint Database => _node.Database("db").Number;

    private bool TryParse(string body, IdempotencyKey key, out CommandBuffer? command, out string error)
    {
        bool isParsed = CounterBatchParser.TryParse(
            Encoding.UTF8.GetBytes(body),
            Database,
            key,
            maxBatchBytes: 1 << 24,
            FormatLevel.Newest,
            out var batch,
            out _,
            out var problem
        );
        command = isParsed ? batch.Command : null;
        error = isParsed ? "" : problem.ToString();
        return isParsed;
    }

    private static string Body(string id, params (string Type, string Name, long Delta)[] operations) =>
        $$"""{"Documents":[{"DocumentId":"{{id}}","Operations":[{{string.Join(
            ',',
            operations.Select(operation =>
                $$"""{"Type":"{{operation.Type}}","CounterName":"{{operation.Name}}","Delta":{{operation.Delta}}}"""
            )
        )}}]}]}""";

    private CommandOutcome Propose(string body, IdempotencyKey key = default)
    {
        Assert.True(TryParse(body, key, out var command, out string error), error);
        return _node.Propose(command!);
    }

    private OperationResult[] Change(string id, params (string Type, string Name, long Delta)[] operations)
    {
        var outcome = Propose(Body(id, operations));
        Assert.Null(outcome.Rejection);
        return [.. Enumerable.Range(0, outcome.Count).Select(i => outcome[i])];
    }

    private long Increment(string id, string name, long delta) => Change(id, ("Increment", name, delta))[0].Low;

    private long? Read(string id, string name)
    {
        using var reader = _node.Database("db").OpenReader();
        return reader.ReadCounter(Encoding.UTF8.GetBytes(id), Encoding.UTF8.GetBytes(name), out _);
    }

    private int Count()
    {
        using var reader = _node.Database("db").OpenReader();
        return (int)reader.ReadStatistics().DocumentCounters;
    }

    private long Etag(string id)
    {
        using var reader = _node.Database("db").OpenReader();
        Assert.True(reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document));
        using (document)
        {
            return document.Etag;
        }
    }

    private JsonElement Metadata(string id)
    {
        var output = new ArrayBufferWriter<byte>();
        using var reader = _node.Database("db").OpenReader();
        Assert.True(reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document));
        using (document)
        {
            document.Write(output, Encoding.ASCII.GetBytes(_node.Database("db").HistoryId));
        }

        return JsonDocument.Parse(output.WrittenMemory).RootElement.GetProperty("@metadata");
    }
}
