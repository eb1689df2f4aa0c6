using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Ids;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Documents.Tests.Backups;
using Rookery.Documents.Tests.Nodes;
using Rookery.Json;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Counters;

/// <summary>Bounds on the cost of counters in a command and when their document is deleted.</summary>
public sealed class CounterCostTests : IDisposable
{
    private readonly SimulatedDisk _disk = new("/data");
    private readonly SimulatedTimeProvider _time = new(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero));
    private SteppedNode _node;
    private string _name = "db";

    public CounterCostTests()
    {
        _node = SteppedNode.Open(_disk, "/data/node", _time);
        _node.CreateDatabase("db");
    }

    public void Dispose() => _node.Dispose();

    private uint Database => _node.Database(_name).Number;

    [Theory]
    [InlineData("n")]
    [InlineData("ä")]
    public void A_command_has_the_id_of_its_document_once_for_all_operations_of_a_group(string letter)
    {
        string id = string.Concat(Enumerable.Repeat(letter, 400 / Encoding.UTF8.GetByteCount(letter)));
        using var counters = new Operations();
        for (int i = 0; i < 1000; i++)
        {
            counters.Increment($"c{i}");
        }

        using var writer = new BatchWriter(CommandKind.Batch, Database);
        writer.Counters(Encoding.UTF8.GetBytes(id), counters.List);
        writer.Delete("other"u8, default);
        writer.Counters("second"u8, counters.List);
        using var command = writer.Complete();
        Assert.InRange(command.Length, 1, 2000 * 24);
        var reader = new CommandReader(command.Written.Span);
        var ids = new List<string>();
        Span<byte> lower = stackalloc byte[DocumentId.MaxBytes];
        while (reader.TryReadOperation(out var operation))
        {
            ids.Add(Encoding.UTF8.GetString(lower[..operation.Id.WriteLowerName(lower)]));
        }

        Assert.Equal([.. Enumerable.Repeat(id, 1000), "other", .. Enumerable.Repeat("second", 1000)], ids);
    }

    [Theory]
    [InlineData(100, 1, "64 operations")]
    [InlineData(30, 100, "KiB")]
    public void Operations_beyond_the_limits_of_a_batch_are_refused_while_they_are_read(
        int count,
        int letters,
        string text
    )
    {
        const int MaxBatchBytes = 64 * DocumentLimits.BytesPerBatchCommand;
        string operations = string.Join(
            ',',
            Enumerable
                .Range(0, count)
                .Select(i => $$"""{"Type":"Increment","CounterName":"{{new string('ä', letters)}}{{i}}","Delta":1}""")
        );
        string posted = $$"""{"Documents":[{"DocumentId":"a","Operations":[{{operations}}]}]}""";
        bool isParsed = CounterBatchParser.TryParse(
            Encoding.UTF8.GetBytes(posted),
            Database,
            default,
            MaxBatchBytes,
            FormatLevel.Newest,
            out _,
            out _,
            out var error
        );
        Assert.False(isParsed);
        Assert.Equal(InputErrorCode.BatchTooLarge, error.Code);
        Assert.Contains(text, error.ToString(), StringComparison.Ordinal);
        Assert.Equal(InputErrorCode.BatchTooLarge, Refusal(operations, MaxBatchBytes));
    }

    [Fact]
    public void An_error_names_the_position_of_its_command_not_that_of_an_operation()
    {
        const string Operation = """{"Type":"Increment","CounterName":"a","Delta":1}""";
        string counters = $$"""{"Id":"a","Type":"Counters","Counters":{"Operations":[{{Operation}},{{Operation}}]} }""";
        Assert.False(
            BatchRequestParser.TryParse(
                Encoding.UTF8.GetBytes($$"""{"Commands":[{{counters}},{"Id":"a","Type":"Unknown"}]}"""),
                Database,
                default,
                1 << 20,
                out _,
                out var error,
                FormatLevel.Newest
            )
        );
        Assert.Equal(1L, error.Where.Element);
    }

    [Fact]
    public void A_bulk_insert_splits_many_operations_of_one_element_among_commands()
    {
        string operations = string.Join(
            ',',
            Enumerable.Range(0, 100).Select(i => $$"""{"Type":"Increment","CounterName":"c{{i}}","Delta":1}""")
        );
        using var reader = new BulkInsertReader(FormatLevel.Newest);
        reader.Feed(
            Encoding.UTF8.GetBytes(
                $$"""[{"Id":"a","Type":"Counters","Counters":{"DocumentId":"a","Operations":[{{operations}}]} }]"""
            )
        );
        Assert.Equal(StreamRead.Item, reader.Read(out var id, out var document, out _));
        using var gathered = new GatheredCounters(_node.Database(_name));
        using var unused = new BatchWriter(CommandKind.BulkPut, Database);
        gathered.LimitTo(30, long.MaxValue);
        bool isWhole = reader.AddTo(unused, gathered, id, document);
        var counts = new List<int>();
        while (true)
        {
            using var command = new BatchWriter(CommandKind.BulkPut, Database);
            gathered.MoveTo(command);
            counts.Add(command.Count);
            if (isWhole)
            {
                break;
            }

            gathered.LimitTo(100, 300);
            isWhole = reader.TryAddRest(gathered);
            Assert.InRange(gathered.Bytes, 1, 350);
        }

        Assert.Equal(100, counts.Sum());
        Assert.Equal(30, counts[0]);
        Assert.All(counts.Skip(1), count => Assert.InRange(count, 1, 20));
        Assert.True(counts.Count > 3);
    }

    [Theory]
    [InlineData("Name", "\"x\"")]
    [InlineData("ContentLength", "5")]
    public void A_bulk_insert_refuses_a_member_of_attachments_beside_counters(string member, string value)
    {
        using var reader = new BulkInsertReader(FormatLevel.Newest);
        const string Increment = """{"Type":"Increment","CounterName":"x","Delta":1}""";
        reader.Feed(
            Encoding.UTF8.GetBytes(
                $$"""
                [ {"{{member}}":{{value}},"Id":"a","Type":"Counters","Counters":{"Operations":[{{Increment}}]} }]
                """
            )
        );
        Assert.Equal(StreamRead.Error, reader.Read(out _, out _, out var error));
        Assert.Equal(InputErrorCode.NotSupported, error.Code);
        Assert.Contains($"'{member}'", error.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_bulk_insert_refuses_to_read_counters()
    {
        using var reader = new BulkInsertReader(FormatLevel.Newest);
        reader.Feed(
            """[{"Id":"a","Type":"Counters","Counters":{"Operations":[{"Type":"Get","CounterName":"x"}]}}]"""u8.ToArray()
        );
        Assert.Equal(StreamRead.Error, reader.Read(out _, out _, out var error));
        Assert.Equal(InputErrorCode.NotSupported, error.Code);
        Assert.Contains("'Get'", error.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void Ids_that_differ_only_in_the_final_sigma_are_two_documents()
    {
        using var reader = new BulkInsertReader(FormatLevel.Newest);
        _node.Put("db", "λόγος/1", "{}");
        _node.Put("db", "λόγοσ/1", "{}");
        reader.Feed(
            Encoding.UTF8.GetBytes(
                """
                [{"Id":"λόγος/1","Type":"Counters","Counters":{"Operations":[{"Type":"Increment","CounterName":"x",
                "Delta":1}]}},{"Id":"λόγοσ/1","Type":"Counters","Counters":{"Operations":[{"Type":"Increment",
                "CounterName":"x","Delta":10}]}}]
                """
            )
        );
        using var gathered = new GatheredCounters(_node.Database(_name));
        using var command = new BatchWriter(CommandKind.BulkPut, Database);
        for (int i = 0; i < 2; i++)
        {
            Assert.Equal(StreamRead.Item, reader.Read(out var id, out var document, out _));
            Assert.True(reader.AddTo(command, gathered, id, document));
        }

        gathered.MoveTo(command);
        _node.Run(command.Complete());
        Assert.Equal((1L, 10L), (Read("λόγος/1", "x"), Read("λόγοσ/1", "x")));
    }

    [Fact]
    public void A_command_longer_than_the_log_accepts_is_refused_whatever_its_kind()
    {
        var command = CommandEncoder.Delete(Database, "a"u8, default, default);
        command.GetSpan(DocumentLimits.MaxCommandBytes).Clear();
        command.Advance(DocumentLimits.MaxCommandBytes);
        var refusal = _node.Propose(command).Rejection!;
        Assert.Equal(RejectionKind.TooLarge, refusal.Kind);
        Assert.Contains("send several requests", refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_transaction_that_costs_too_much_is_refused_with_the_id_of_a_document()
    {
        _node.Put("db", "A", "{}");
        Assert.Null(Increment("a", 5000).Rejection);
        using var writer = new BatchWriter(CommandKind.ClusterTransaction, Database);
        for (int i = 0; i < 2000; i++)
        {
            writer.Put("A"u8, ExpectedChangeVector.None, new ParsedDocument { BodyHead = "\"n\":1"u8 });
        }

        var refusal = _node.Propose(writer.Complete()).Rejection!;
        Assert.Equal((RejectionKind.TooLarge, "A"), (refusal.Kind, refusal.DocumentId));
    }

    [Theory]
    [InlineData("delete")]
    [InlineData("expire")]
    [InlineData("transaction")]
    public void Deleting_a_document_costs_the_same_with_many_counters_and_a_new_document_has_none(string how)
    {
        _node.Put("db", "a", "{}");
        Assert.Null(Increment("a", 5000).Rejection);
        _node.Flush();
        long before = MemtableBytes();
        _node.Run(End("a", how));
        Assert.InRange(MemtableBytes() - before, 1, 8 << 10);
        Assert.Equal((null, 0L), (Read("a", "c7"), Count()));

        _node.Put("db", "a", "{}");
        Assert.Null(Read("a", "c7"));
        Assert.Equal(1, Increment("a", 1)[0].Low);
        Assert.Equal((1L, null, 1L), (Read("a", "c0"), Read("a", "c7"), Count()));
        _node.Flush();
        _node.Dispose();
        _node = SteppedNode.Open(_disk, "/data/node", _time);
        Assert.Equal((1L, null, 1L), (Read("a", "c0"), Read("a", "c7"), Count()));
        Assert.Equal(8, Increment("a", 8).Count);
        Assert.Equal((2L, 1L, 8L), (Read("a", "c0"), Read("a", "c7"), Count()));
    }

    [Fact]
    public void A_database_that_is_created_again_has_no_counters_of_the_one_before()
    {
        _node.Put("db", "a", "{}");
        Increment("a", 3);
        _node.Run(CommandEncoder.DeleteDatabases(["db"]));
        _node.CreateDatabase("db");
        _node.Put("db", "a", "{}");
        Assert.Equal((null, 0L), (Read("a", "c1"), Count()));
        Assert.Equal(1, Increment("a", 1)[0].Low);
    }

    [Fact]
    public void A_restored_backup_has_the_counters_and_none_of_a_deleted_document()
    {
        var disk = new SimulatedDisk("/data", "/backups");
        using (var source = BackedUp.NewNode(disk, documents: 10))
        {
            _node.Dispose();
            _node = source;
            _name = "Shop";
            Increment("d/1", 3);
            Increment("d/2", 3);
            source.Run(End("d/2", "delete"));
            source.Put("Shop", "d/2", "{}");
            source.Flush();
            Increment("d/1", 4);
            BackedUp.Take(source, disk);
        }

        BackedUp.Restore(disk);
        _node = SteppedNode.Open(disk, BackedUp.Restored);
        Assert.Equal((2L, 1L, null, 4L), (Read("d/1", "c0"), Read("d/1", "c3"), Read("d/2", "c0"), Count()));
        Assert.Equal(3, Increment("d/1", 1)[0].Low);
    }

    private CommandBuffer End(string id, string how)
    {
        byte[] idBytes = Encoding.UTF8.GetBytes(id);
        if (string.Equals(how, "expire", StringComparison.Ordinal))
        {
            using var reader = _node.Database(_name).OpenReader();
            Assert.True(reader.TryGetDocument(idBytes, out var document));
            using (document)
            {
                using var expiry = new ExpiryWriter(Database);
                expiry.Add(idBytes, document.Etag);
                return expiry.Complete();
            }
        }

        using var writer = new BatchWriter(
            string.Equals(how, "delete", StringComparison.Ordinal) ? CommandKind.Batch : CommandKind.ClusterTransaction,
            Database
        );
        writer.Delete(idBytes, default);
        return writer.Complete();
    }

    private CommandOutcome Increment(string id, int count)
    {
        using var counters = new Operations();
        for (int i = 0; i < count; i++)
        {
            counters.Increment($"c{i}");
        }

        using var writer = new BatchWriter(CommandKind.Batch, Database);
        writer.Counters(Encoding.UTF8.GetBytes(id), counters.List);
        return _node.Propose(writer.Complete());
    }

    private long? Read(string id, string name)
    {
        using var reader = _node.Database(_name).OpenReader();
        return reader.ReadCounter(Encoding.UTF8.GetBytes(id), Encoding.UTF8.GetBytes(name), out _);
    }

    private long Count()
    {
        using var reader = _node.Database(_name).OpenReader();
        return reader.ReadStatistics().DocumentCounters;
    }

    private long MemtableBytes() => _node.Core.Storage.Statistics().MemtableBytes;

    private sealed class Operations : IDisposable
    {
        public CounterOperationList List { get; } = new(FormatLevel.Newest);

        public void Increment(string name) =>
            List.Add(OperationKind.CounterIncrement, Encoding.UTF8.GetBytes(name), delta: 1);

        public void Dispose() => List.Release();
    }

    // A Counters command of bulk_docs.
    private static InputErrorCode Refusal(string operations, int maxBatchBytes)
    {
        Assert.False(
            BatchRequestParser.TryParse(
                Encoding.UTF8.GetBytes(
                    $$"""{"Commands":[{"Id":"a","Type":"Counters","Counters":{"Operations":[{{operations}}]} }]}"""
                ),
                database: 1,
                default,
                maxBatchBytes,
                out _,
                out var error,
                FormatLevel.Newest
            )
        );
        return error.Code;
    }
}
