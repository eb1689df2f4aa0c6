using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;
using static System.StringComparison;

namespace Rookery.Documents.Tests.CompareExchange;

/// <summary>Compare-exchange values and cluster-wide transactions as apply executes them.</summary>
public sealed class CompareExchangeTests : IDisposable
{
    private readonly SimulatedDisk _disk = new("/data");
    private readonly SimulatedTimeProvider _time = new(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero));
    private SteppedNode _node;

    public CompareExchangeTests()
    {
        _node = SteppedNode.Open(_disk, "/data/node", _time);
        _node.CreateDatabase("db");
        _node.Put("db", "first", "{}");
    }

    public void Dispose() => _node.Dispose();

    [Fact]
    public void A_value_changes_only_with_its_current_index_and_each_change_has_a_higher_index()
    {
        var created = Put("Key", index: 0, "1");
        Assert.Equal(OperationStatus.Stored, created.Status);
        Assert.Equal((OperationStatus.Mismatched, created.Etag), StatusAndIndexOf(Put("kEY", index: 0, "2")));
        Assert.Equal((OperationStatus.Mismatched, created.Etag), StatusAndIndexOf(Put("key", created.Etag + 1, "2")));
        Assert.Equal("1", ReadValue("KEY"));

        var changed = Put("key", created.Etag, "2");
        Assert.True(changed.Etag > created.Etag);
        Assert.Equal("2", ReadValue("key"));
        Assert.Equal(OperationStatus.Mismatched, Delete("key", created.Etag).Status);
        Assert.Equal(OperationStatus.Deleted, Delete("key", changed.Etag).Status);
        Assert.Null(ReadValue("key"));
        Assert.Equal(OperationStatus.NotFound, Delete("key", changed.Etag).Status);
        Assert.Equal(0, CountValues());
    }

    [Fact]
    public void A_put_with_an_index_stores_nothing_if_there_is_no_value()
    {
        var result = Put("a", 7, "1");
        Assert.Equal(OperationStatus.Mismatched, result.Status);
        Assert.True(result.Etag > 0);
        Assert.Null(ReadValue("a"));
    }

    [Fact]
    public void A_mismatch_returns_the_current_value()
    {
        Put("a", index: 0, "\"met\"");
        using var document = Put("a", index: 0, "2").Document!;
        Assert.Contains("\"met\"", Encoding.UTF8.GetString(document.Written.Span), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Two_puts_in_one_entry_have_different_indexes()
    {
        var first = Propose(PutCommand("a", index: 0, "1"));
        var second = Propose(PutCommand("b", index: 0, "1"));
        _node.Commit();
        Assert.NotEqual((await first)[0].Etag, (await second)[0].Etag);
    }

    [Fact]
    public void A_value_is_absent_from_its_expiry_on_whether_it_is_removed_or_not()
    {
        // The time of the log advances with each entry, so a put of any document makes readers see the clock.
        var stored = Put("lock", index: 0, "1", _time.GetUtcNow().AddMinutes(1));
        _time.Advance(TimeSpan.FromSeconds(59));
        _node.Put("db", "tick", "{}");
        Assert.Equal("1", ReadValue("lock"));
        Assert.Equal(OperationStatus.Mismatched, Put("lock", index: 0, "2").Status);

        _time.Advance(TimeSpan.FromSeconds(2));
        _node.Put("db", "tick", "{}");
        Assert.Null(ReadValue("lock"));
        Assert.Equal(1, CountValues());
        Assert.Equal(OperationStatus.Mismatched, Put("lock", stored.Etag, "2").Status);
        Assert.Equal(OperationStatus.NotFound, Delete("lock", stored.Etag).Status);
        Assert.Equal(OperationStatus.Stored, Put("lock", index: 0, "3").Status);
        Assert.Equal("3", ReadValue("lock"));
    }

    [Theory]
    [InlineData(-60)]
    [InlineData(0)]
    public void A_value_that_would_be_absent_from_the_beginning_is_refused(int secondsFromNow)
    {
        var past = _time.GetUtcNow().AddSeconds(secondsFromNow);
        var refused = _node.Propose(PutCommand("lock", index: 0, "1", request: default, past)).Rejection!;
        Assert.Equal(RejectionKind.Invalid, refused.Kind);
        Assert.Contains("the cluster's time is 2026-01-01T00:00:00.00", refused.Message, StringComparison.Ordinal);

        var inTransaction = Transact(writer =>
        {
            writer.PutCompareExchange("other"u8, 0, Value("1"));
            writer.PutCompareExchange("lock"u8, 7, Value("1", past));
        }).Rejection!;
        Assert.Equal((RejectionKind.Invalid, 1), (inTransaction.Kind, inTransaction.Operation));
        Assert.Contains("lock", inTransaction.Message, StringComparison.Ordinal);
        Assert.Equal(0, CountValues());
    }

    [Fact]
    public async Task A_reader_removes_a_value_that_is_due_without_another_write()
    {
        Put("lock", index: 0, "1", _time.GetUtcNow().AddMinutes(1));
        _time.Advance(TimeSpan.FromMinutes(2));
        Assert.Equal("1", ReadValue("lock"));
        await EndDueValuesAsync();
        Assert.Null(ReadValue("lock"));
        Assert.Equal(0, CountValues());

        long entries = _node.Core.Journal.LastIndex;
        await CompareExchangeExpiry.EndDueValuesAsync(_node.Database("db"), _node.Consensus);
        Assert.Equal(entries, _node.Core.Journal.LastIndex);
    }

    [Fact]
    public async Task Readers_that_find_due_values_at_once_add_one_entry_that_removes_one_value()
    {
        for (int i = 0; i < 3; i++)
        {
            Put($"locks/{i}", index: 0, "1", _time.GetUtcNow().AddMinutes(1));
        }

        _time.Advance(TimeSpan.FromMinutes(2));
        long entries = _node.Core.Journal.LastIndex;
        Task[] readers =
        [
            .. Enumerable
                .Range(0, 5)
                .Select(_ => CompareExchangeExpiry.EndDueValuesAsync(_node.Database("db"), _node.Consensus).AsTask()),
        ];
        _node.Commit();
        await Task.WhenAll(readers).WaitAsync(TimeSpan.FromMinutes(1));
        Assert.Equal(entries + 1, _node.Core.Journal.LastIndex);
        Assert.All(Enumerable.Range(0, 3), i => Assert.Null(ReadValue($"locks/{i}")));
        Assert.Equal(2, CountValues());
    }

    [Fact]
    public async Task A_reader_removes_due_values_even_if_the_next_entry_removes_none_after_a_jump_of_the_clock()
    {
        Put("lock", index: 0, "1", _time.GetUtcNow().AddMinutes(1));
        _time.SetUtcNow(_time.GetUtcNow().AddHours(1));
        // The node notices the time within a second.
        _time.Advance(TimeSpan.FromSeconds(1));
        _node.Commit();
        long entries = _node.Core.Journal.LastIndex;
        Assert.True(_node.Consensus.Time.IsPast(_time.GetUtcNow().AddMinutes(-1)));
        await EndDueValuesAsync();
        // The first entry carries the new time into the log, and the second makes the value absent.
        Assert.Equal(entries + 2, _node.Core.Journal.LastIndex);
        Assert.Null(ReadValue("lock"));
    }

    [Fact]
    public async Task The_leader_removes_expired_values()
    {
        Put("short", index: 0, "1", _time.GetUtcNow().AddMinutes(1));
        Put("long", index: 0, "1", _time.GetUtcNow().AddDays(1));
        _time.Advance(TimeSpan.FromMinutes(2));
        await Task.Run(() =>
        {
            var done = new Expiration(_node.Core.Databases, _node.Consensus).RunOnceAsync(CancellationToken.None);
            _node.Commit();
            Assert.True(done.IsCompletedSuccessfully);
        });
        Assert.Equal(1, CountValues());
        Assert.Equal("1", ReadValue("long"));
    }

    [Fact]
    public void While_the_time_is_in_doubt_no_value_expires_and_an_expired_one_stays_absent()
    {
        bool isSynchronised = true;
        _node.Dispose();
        _node = SteppedNode.Open(
            _disk,
            SteppedNode.Options("/data/node"),
            _time,
            isClockSynchronised: () => isSynchronised
        );
        _node.Put("db", "tick", "{}");
        Put("gone", index: 0, "1", _time.GetUtcNow().AddMinutes(1));
        Put("stays", index: 0, "1", _time.GetUtcNow().AddHours(2));
        _time.Advance(TimeSpan.FromMinutes(2));
        _node.Put("db", "tick", "{}");
        _node.Put("db", "tick", "{}");
        Assert.Null(ReadValue("gone"));

        isSynchronised = false;
        _time.SetUtcNow(_time.GetUtcNow().AddDays(400));
        _node.Put("db", "tick", "{}");
        _node.Put("db", "tick", "{}");
        Assert.Null(ReadValue("gone"));
        Assert.Equal("1", ReadValue("stays"));

        // The doubtful clock refuses no value either.
        Assert.Equal(OperationStatus.Stored, Put("later", index: 0, "1", _time.GetUtcNow().AddDays(-1)).Status);
        Assert.Equal("1", ReadValue("later"));
    }

    [Fact]
    public void A_transaction_stores_all_or_nothing_and_names_all_violations()
    {
        long index = Put("k", index: 0, "1").Etag;
        _node.Put("db", "read", "{}");
        string readVersion = ReadVersion("read");
        var outcome = Transact(writer =>
        {
            writer.Put("new"u8, default, Document());
            writer.Put("read"u8, ExpectedChangeVector.MustEqual(Encoding.UTF8.GetBytes(readVersion)), Document());
            writer.PutCompareExchange("k"u8, index, Value("2"));
            writer.PutCompareExchange("other"u8, 0, Value("3"));
        });
        Assert.Null(outcome.Rejection);
        Assert.Equal(("2", "3"), (ReadValue("k"), ReadValue("other")));

        var refused = Transact(writer =>
        {
            writer.Put("third"u8, default, Document());
            writer.Put("read"u8, ExpectedChangeVector.MustEqual(Encoding.UTF8.GetBytes(readVersion)), Document());
            writer.PutCompareExchange("k"u8, index, Value("4"));
            writer.DeleteCompareExchange("none"u8, 9);
        }).Rejection!;
        Assert.Equal((RejectionKind.ClusterTransactionConflict, 1), (refused.Kind, refused.Operation));
        Assert.Equal(
            [("read", true), ("k", false), ("none", false)],
            refused.Violations!.Select(violation => (violation.Id, violation.IsDocument))
        );
        Assert.Equal((9, 0), (refused.Violations![2].Expected, refused.Violations[2].Actual));
        Assert.DoesNotContain("third", _node.Documents("db").Keys);
        Assert.Equal("2", ReadValue("k"));
    }

    [Fact]
    public void A_document_with_a_guard_is_replaced_only_if_its_newest_version_was_read()
    {
        Store("doc", readVersion: null);
        Assert.NotNull(ReadValue("rvn-atomic/DOC"));
        using (var reader = _node.Database("db").OpenReader())
        {
            Assert.Equal(0, reader.CountCompareExchangeOfUsers());
        }

        Assert.NotNull(TryStore("doc", readVersion: null));
        string first = ReadVersion("doc");
        Store("doc", first);
        Assert.NotNull(TryStore("doc", first));

        // An ordinary write does not change the guard, but the transaction detects it.
        string second = ReadVersion("doc");
        _node.Put("db", "doc", "{}");
        Assert.NotNull(TryStore("doc", second));
        Store("doc", ReadVersion("doc"));
    }

    [Fact]
    public void A_document_without_a_guard_may_be_replaced_unread_and_then_has_one()
    {
        _node.Put("db", "doc", "{}");
        Store("doc", readVersion: null);
        Assert.NotNull(TryStore("doc", readVersion: null));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void An_empty_change_vector_expects_that_the_document_does_not_exist(bool isDelete)
    {
        _node.Put("db", "doc", "{}");
        var violation = Assert.Single(Change("doc")!.Violations!);
        Assert.Equal(("doc", true, 0L), (violation.Id, violation.IsDocument, violation.Expected));
        Assert.True(violation.Actual > 0);
        Assert.Null(Change("new"));

        Rejection? Change(string id) =>
            Transact(writer =>
            {
                byte[] utf8 = Encoding.UTF8.GetBytes(id);
                if (isDelete)
                {
                    writer.Delete(utf8, ExpectedChangeVector.MustEqual(""u8));
                }
                else
                {
                    writer.Put(utf8, ExpectedChangeVector.MustEqual(""u8), Document());
                }
            }).Rejection;
    }

    [Fact]
    public void A_refusal_says_which_version_was_expected_and_which_is_there()
    {
        _node.Put("db", "doc", "{}");
        string version = ReadVersion("doc");
        string etag = version["A:".Length..version.IndexOf('-', StringComparison.Ordinal)];
        string ofOtherHistory = $"A:{etag}-{new string('x', HistoryId.Length)}";
        const string Foreign = "to have a change vector that is not one of this server.";

        Assert.Contains($"document none does not exist, but was expected {Foreign}", Refuse("none", "x"), Ordinal);
        Assert.Contains("does not exist, but was expected to have the etag 7.", Refuse("none", "A:7-x"), Ordinal);
        Assert.Contains($"document doc has the etag {etag}, but was expected {Foreign}", Refuse("doc", "x"), Ordinal);
        Assert.Contains("expected to have that of another history", Refuse("doc", ofOtherHistory), Ordinal);
        Assert.Contains($"has the etag {etag}, but was expected not to exist.", Refuse("doc", ""), Ordinal);

        string Refuse(string id, string readVersion) => TryStore(id, readVersion)!.Message;
    }

    [Fact]
    public void A_guard_is_deleted_with_its_document_by_any_kind_of_delete()
    {
        Store("a", readVersion: null);
        Assert.Null(
            Transact(writer =>
                writer.Delete("a"u8, ExpectedChangeVector.MustEqual(Encoding.UTF8.GetBytes(ReadVersion("a"))))
            ).Rejection
        );
        Assert.Null(ReadValue("rvn-atomic/a"));

        Store("b", readVersion: null);
        _node.Run(CommandEncoder.Delete(_node.Database("db").Number, "b"u8, expected: default, key: default));
        Assert.Null(ReadValue("rvn-atomic/b"));
        Store("b", readVersion: null);
        Assert.Equal(1, CountValues());
    }

    [Fact]
    public void Without_guards_only_values_are_compared()
    {
        Store("a", readVersion: null);
        Assert.Null(
            Transact(
                writer => writer.Put("a"u8, ExpectedChangeVector.MustEqual("A:1-x"u8), Document()),
                hasGuards: false
            ).Rejection
        );
    }

    [Fact]
    public void An_id_too_long_for_a_guard_is_refused_and_nothing_is_stored()
    {
        // A guard's key is "rvn-atomic/" and the id, and has at most 512 bytes.
        byte[] id = Encoding.ASCII.GetBytes(new string('i', 502));
        var refused = Transact(writer =>
        {
            writer.PutCompareExchange("k"u8, 0, Value("1"));
            writer.Put(id, default, Document());
        }).Rejection!;
        Assert.Equal(RejectionKind.Invalid, refused.Kind);
        Assert.Contains("501 bytes", refused.Message, StringComparison.Ordinal);
        Assert.Null(ReadValue("k"));
        Assert.Null(Transact(writer => writer.Put(id, default, Document()), hasGuards: false).Rejection);
        _node.Run(CommandEncoder.Delete(_node.Database("db").Number, id, expected: default, key: default));
    }

    [Fact]
    public void A_repeated_request_has_the_outcome_of_the_first()
    {
        var key = new IdempotencyKey(1, 2);
        var first = _node.Propose(PutCommand("a", index: 0, "1", key))[0];
        var again = _node.Propose(PutCommand("a", index: 0, "1", key))[0];
        Assert.Equal((OperationStatus.Stored, first.Etag), StatusAndIndexOf(again));
    }

    [Fact]
    public void Small_and_large_values_survive_a_restart_and_a_flush()
    {
        string large = $"\"{new string('x', 100_000)}\"";
        Put("large", index: 0, large, _time.GetUtcNow().AddDays(1));
        Put("small", index: 0, "1");
        Store("doc", readVersion: null);
        _node.Flush();
        _node.Dispose();
        _node = SteppedNode.Open(_disk, "/data/node", _time);
        Assert.Equal((large, "1"), (ReadValue("large"), ReadValue("small")));
        Assert.Equal(3, CountValues());
        Assert.NotNull(TryStore("doc", readVersion: null));
    }

    [Fact]
    public void Below_its_format_level_no_value_is_written_and_an_older_program_opens_the_node()
    {
        // A program that knows only the level before compare-exchange creates the directory.
        var options = SteppedNode.Options("/data/old") with
        {
            NewestFormatLevel = FormatLevel.Indexes,
        };
        SteppedNode.Open(_disk, options, _time).Dispose();
        using (var node = SteppedNode.Open(_disk, "/data/old", _time))
        {
            node.CreateDatabase("db");
            long journal = node.Core.Journal.LastIndex;
            var command = CommandEncoder.PutCompareExchange(
                node.Database("db").Number,
                "a"u8,
                index: 0,
                Value("1"),
                requestKey: default
            );
            var refused = node.Propose(command).Rejection!;
            Assert.Contains("finalize-upgrade", refused.Message, StringComparison.Ordinal);
            Assert.Equal(journal, node.Core.Journal.LastIndex);
        }

        // A program that knows only the older level still opens the directory.
        SteppedNode.Open(_disk, options, _time).Dispose();
        using var raised = SteppedNode.Open(_disk, "/data/old", _time);
        using var raise = new ClusterRecordWriter();
        raise.Set(FormatLevel.RecordKey, new FormatLevel(FormatLevel.CompareExchange, "0.9.2").ToRecord());
        raised.Run(raise.Complete());
        raised.Run(
            CommandEncoder.PutCompareExchange(
                raised.Database("db").Number,
                "a"u8,
                index: 0,
                Value("1"),
                requestKey: default
            )
        );
    }

    private static (OperationStatus Status, long Etag) StatusAndIndexOf(OperationResult result) =>
        (result.Status, result.Etag);

    private static ParsedDocument Document() => new() { BodyHead = "\"a\":1"u8 };

    private static ParsedDocument Value(string json, DateTimeOffset? expires = null) =>
        new() { BodyHead = Encoding.UTF8.GetBytes($"\"Object\":{json}"), ExpiresAtTicks = expires?.UtcTicks ?? 0 };

    private CommandBuffer PutCommand(
        string key,
        long index,
        string json,
        IdempotencyKey request = default,
        DateTimeOffset? expires = null
    ) =>
        CommandEncoder.PutCompareExchange(
            _node.Database("db").Number,
            Encoding.UTF8.GetBytes(key),
            index,
            Value(json, expires),
            request
        );

    /// <summary>Stores a value if the current one has an index, which is 0 if there is none.</summary>
    private OperationResult Put(string key, long index, string json, DateTimeOffset? expires = null) =>
        _node.Propose(PutCommand(key, index, json, request: default, expires))[0];

    private OperationResult Delete(string key, long index) =>
        _node.Propose(
            CommandEncoder.DeleteCompareExchange(
                _node.Database("db").Number,
                Encoding.UTF8.GetBytes(key),
                index,
                requestKey: default
            )
        )[0];

    // Tasks complete inline within Commit. The test's synchronization context would continue on another thread, so the
    // work runs without it.
    private Task EndDueValuesAsync() =>
        Task.Run(() =>
        {
            var ended = CompareExchangeExpiry.EndDueValuesAsync(_node.Database("db"), _node.Consensus).AsTask();
            _node.Commit();
            Assert.True(ended.IsCompletedSuccessfully);
        });

    private Task<CommandOutcome> Propose(CommandBuffer command) =>
        _node.Consensus.ProposeAsync(command, CancellationToken.None).AsTask();

    private CommandOutcome Transact(Action<BatchWriter> write, bool hasGuards = true)
    {
        using var writer = new BatchWriter(CommandKind.ClusterTransaction, _node.Database("db").Number);
        if (!hasGuards)
        {
            writer.DisableGuards();
        }

        write(writer);
        return _node.Propose(writer.Complete());
    }

    // Stores a document in a transaction; returns why it was refused, or null.
    private Rejection? TryStore(string id, string? readVersion) =>
        Transact(writer =>
            writer.Put(
                Encoding.UTF8.GetBytes(id),
                readVersion is null ? default : ExpectedChangeVector.MustEqual(Encoding.UTF8.GetBytes(readVersion)),
                Document()
            )
        ).Rejection;

    /// <summary>Stores a document in a transaction.</summary>
    /// <param name="id">Id of the document.</param>
    /// <param name="readVersion">The change vector that the document must have; null expects none.</param>
    private void Store(string id, string? readVersion) => Assert.Null(TryStore(id, readVersion));

    private string ReadVersion(string id)
    {
        using var reader = _node.Database("db").OpenReader();
        Assert.True(reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document));
        using (document)
        {
            return _node.Database("db").ChangeVectorOf(document.Etag);
        }
    }

    private string? ReadValue(string key)
    {
        using var reader = _node.Database("db").OpenReader();
        if (!reader.TryGetCompareExchange(Encoding.UTF8.GetBytes(key), out var value))
        {
            return null;
        }

        using (value)
        {
            return Encoding.UTF8.GetString(value.View.Body)["\"Object\":".Length..];
        }
    }

    private long CountValues()
    {
        using var reader = _node.Database("db").OpenReader();
        return reader.ReadStatistics().CompareExchangeValues;
    }
}
