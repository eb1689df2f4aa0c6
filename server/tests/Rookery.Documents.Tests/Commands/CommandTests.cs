using System.Text.RegularExpressions;
using Rookery.Documents.Commands;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Json;
using static Rookery.Documents.Tests.Parsing.ParsedExample;

namespace Rookery.Documents.Tests.Commands;

/// <summary>The encoding of commands, the content of journal entries that every node applies.</summary>
public class CommandTests
{
    private static readonly IdempotencyKey Key = new(1, 2);

    [Fact]
    public void Operations_are_decoded_as_they_were_added()
    {
        using DocumentParser parser = DocumentParser.Rent();
        using var writer = new BatchWriter(CommandKind.Batch, 7, Key, skipUnchanged: true);
        Assert.True(
            parser.TryParse(
                Bytes("""{"a":1,"@metadata":{"@collection":"Users","@expires":"2026-11-21T09:49:45Z"}}"""),
                out ParsedDocument document,
                out _
            )
        );
        writer.Put("Users/1"u8, ExpectedChangeVector.MustEqual("A:1-x"u8), document);
        writer.Delete("É/2"u8, ExpectedChangeVector.MustNotExist);
        using CommandBuffer buffer = writer.Complete();

        var reader = new CommandReader(buffer.Written.Span);
        Assert.Equal(
            (CommandKind.Batch, 7u, 2, Key, true),
            (reader.Kind, reader.Database, reader.OperationCount, reader.Key, reader.SkipsUnchanged)
        );
        Assert.True(reader.TryReadOperation(out Operation put));
        Assert.Equal(
            (OperationKind.Put, "Users/1", "Users", Expectation.MustEqual),
            (put.Kind, Text(put.Id.Written), Text(put.Collection), put.Expected.Expectation)
        );
        Assert.Equal("A:1-x", Text(put.Expected.Text));
        Assert.Equal(new DateTime(2026, 11, 21, 9, 49, 45, DateTimeKind.Utc).Ticks, put.ExpiresAtTicks);
        byte[] value = new byte[StoredDocument.MaxHeadBytes + put.Content.Length];
        int head = StoredDocument.WriteHead(value, put.Id.Written, lastModifiedTicks: 5, put.ExpiresAtTicks);
        put.Content.CopyTo(value.AsSpan(head));
        var view = new DocumentView(value.AsSpan(0, head + put.Content.Length));
        Assert.Equal(
            ("\"a\":1", "Users/1", 5L, put.ExpiresAtTicks),
            (Text(view.Body), Text(view.Id), view.LastModifiedTicks, view.ExpiresAtTicks)
        );
        Assert.True(reader.TryReadOperation(out Operation delete));
        Assert.Equal(
            (OperationKind.Delete, "É/2", "é/2", Expectation.MustNotExist),
            (delete.Kind, Text(delete.Id.Written), Resolve(delete.Id, number: 0).Lower, delete.Expected.Expectation)
        );
        Assert.False(reader.TryReadOperation(out _));
    }

    [Theory]
    [InlineData("Users/", 9, "Users/0000000000000000009-A", "users/0000000000000000009-a")]
    [InlineData("Ü|", 12, "Ü/12", "ü/12")]
    [InlineData("Users/1", 9, "Users/1", "users/1")]
    public void Apply_completes_ids(string id, long number, string written, string lower)
    {
        using CommandBuffer buffer = EncodePut(id);
        var reader = new CommandReader(buffer.Written.Span);
        Assert.True(reader.TryReadOperation(out Operation put));
        Assert.Equal((written, lower), Resolve(put.Id, number));
    }

    [Fact]
    public void The_longest_prefix_of_an_id_leaves_room_for_the_longest_number()
    {
        // 490 bytes, and one for the separator: the longest prefix that leaves room for a number.
        string prefix = new string('É', 245) + "|";
        Assert.True(DocumentId.TryValidateForStore(Bytes(prefix), out InputError error), error.ToString());
        using CommandBuffer buffer = EncodePut(prefix);
        var reader = new CommandReader(buffer.Written.Span);
        Assert.True(reader.TryReadOperation(out Operation put));
        Assert.EndsWith("/" + long.MaxValue, Resolve(put.Id, long.MaxValue).Written, StringComparison.Ordinal);
    }

    [Fact]
    public void An_empty_id_becomes_a_guid_in_the_command()
    {
        using CommandBuffer buffer = EncodePut("");
        var reader = new CommandReader(buffer.Written.Span);
        Assert.True(reader.TryReadOperation(out Operation put));
        Assert.Matches(
            new Regex(
                "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
                RegexOptions.None,
                TimeSpan.FromSeconds(1)
            ),
            Text(put.Id.Written)
        );
    }

    [Fact]
    public void Single_commands_are_decoded_as_they_were_encoded()
    {
        using CommandBuffer hilo = CommandEncoder.HiloNext(
            database: 3,
            "users"u8,
            lastBatchSize: 32,
            lastRangeAtTicks: 55,
            lastMax: 64,
            (byte)'/',
            key: default
        );
        HiloNextCommand next = new CommandReader(hilo.Written.Span).ReadHiloNext();
        Assert.Equal(
            ("users", 32L, 55L, 64L, (byte)'/'),
            (Text(next.Tag), next.LastBatchSize, next.LastRangeAtTicks, next.LastMax, next.Separator)
        );

        using CommandBuffer hiloReturn = CommandEncoder.HiloReturn(
            database: 3,
            "users"u8,
            last: 2,
            end: 32,
            key: default
        );
        HiloReturnCommand returned = new CommandReader(hiloReturn.Written.Span).ReadHiloReturn();
        Assert.Equal(("users", 2L, 32L), (Text(returned.Tag), returned.Last, returned.End));

        using CommandBuffer identity = CommandEncoder.IdentityNext(database: 3, "users|"u8, Key);
        var identityReader = new CommandReader(identity.Written.Span);
        Assert.Equal((Key, "users|"), (identityReader.Key, Text(identityReader.ReadIdentityNext())));

        using CommandBuffer seed = CommandEncoder.IdentitySeed(database: 3, "users|"u8, 100, force: true, key: default);
        IdentitySeedCommand seeded = new CommandReader(seed.Written.Span).ReadIdentitySeed();
        Assert.Equal(("users|", 100L, true), (Text(seeded.Name), seeded.Value, seeded.IsForced));

        string history = HistoryId.Create();
        using CommandBuffer create = CommandEncoder.CreateDatabase("db", history);
        CreateDatabaseCommand created = new CommandReader(create.Written.Span).ReadCreateDatabase();
        Assert.Equal(("db", history, HistoryId.Length), (Text(created.Name), Text(created.HistoryId), history.Length));

        using CommandBuffer delete = CommandEncoder.DeleteDatabases(["a", "b"]);
        var names = new CommandReader(delete.Written.Span);
        Assert.True(
            names.OperationCount == 2
                && names.TryReadName(out _)
                && names.TryReadName(out ReadOnlySpan<byte> last)
                && last.SequenceEqual("b"u8)
                && !names.TryReadName(out _),
            "both names are read, and no third one"
        );

        using CommandBuffer horizon = CommandEncoder.SetTombstoneHorizon(database: 3, etag: 99);
        Assert.Equal(99, new CommandReader(horizon.Written.Span).ReadTombstoneHorizon());

        using CommandBuffer configuration = CommandEncoder.PutClientConfiguration(database: 3, "{}"u8);
        Assert.Equal("{}", Text(new CommandReader(configuration.Written.Span).ReadConfiguration()));

        using var expiry = new ExpiryWriter(database: 3);
        expiry.Add("a"u8, 5);
        expiry.Add("b"u8, 6);
        using CommandBuffer expire = expiry.Complete();
        var expired = new CommandReader(expire.Written.Span);
        Assert.True(
            expired.OperationCount == 2
                && expired.TryReadExpiry(out _, out _)
                && expired.TryReadExpiry(out ReadOnlySpan<byte> id, out long etag)
                && id.SequenceEqual("b"u8)
                && etag == 6
                && !expired.TryReadExpiry(out _, out _),
            "both documents are read with their etags, and no third one"
        );
    }

    [Fact]
    public void Damaged_commands_throw_only_the_format_exception()
    {
        const int Seed = 99;
        var random = new Random(Seed);
        using CommandBuffer original = EncodeBatch();
        for (int round = 0; round < 20_000; round++)
        {
            // First truncated at each length, then with three random bytes.
            byte[] damaged = original.Written.ToArray();
            damaged = round < damaged.Length ? damaged[..round] : damaged;
            for (int change = 0; change < 3 && round >= original.Length; change++)
            {
                damaged[random.Next(damaged.Length)] = (byte)random.Next(256);
            }

            try
            {
                var reader = new CommandReader(damaged);
                while (reader.TryReadOperation(out _)) { }
            }
            catch (CommandFormatException e)
            {
                Assert.EndsWith(".", e.Message, StringComparison.Ordinal);
            }
        }
    }

    [Fact]
    public void Unknown_versions_and_kinds_name_the_program_to_start()
    {
        // The first byte is the version, now 2, and the second the kind.
        using CommandBuffer buffer = EncodeBatch();
        byte[] newerVersion = buffer.Written.ToArray();
        byte[] unknownKind = buffer.Written.ToArray();
        byte[] olderVersion = buffer.Written.ToArray();
        olderVersion[0] = 1;
        newerVersion[0] = 3;
        unknownKind[1] = 200;
        Assert.Contains(
            "older program",
            Assert.Throws<CommandFormatException>(() => new CommandReader(olderVersion).Kind).Message,
            StringComparison.Ordinal
        );
        Assert.Contains(
            "newer program",
            Assert.Throws<CommandFormatException>(() => new CommandReader(newerVersion).Kind).Message,
            StringComparison.Ordinal
        );
        Assert.Contains(
            "newer program",
            Assert.Throws<CommandFormatException>(() => new CommandReader(unknownKind).Kind).Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void The_format_of_version_2_is_stable()
    {
        using DocumentParser parser = DocumentParser.Rent();
        Assert.True(
            parser.TryParse(
                Bytes("""{"a":1,"@metadata":{"@collection":"C","k":2}}"""),
                out ParsedDocument document,
                out _
            )
        );
        using CommandBuffer buffer = CommandEncoder.Put(
            database: 258,
            "X"u8,
            ExpectedChangeVector.MustEqual("v"u8),
            document,
            new IdempotencyKey(1, 2)
        );
        Assert.Equal(
            "0201"
                + "04"
                + "02010000"
                + "01000000"
                + "0000000000000001"
                + "0000000000000002" // header
                + "F646B28FF37131DAF8A61AF96B3F389A" // SHA-256 of the rest, the key zero
                + "01"
                + "02"
                + "0100"
                + "58"
                + "01"
                + "76" // put, must equal, id, change vector
                + "0D000000"
                + "0143"
                + "05"
                + "226B223A32"
                + "2261223A31", // content
            Convert.ToHexString(buffer.Written.Span)
        );
    }

    [Fact]
    public void An_overlong_change_vector_stays_longer_than_any_valid_one()
    {
        using CommandBuffer buffer = CommandEncoder.Delete(
            database: 1,
            "a"u8,
            ExpectedChangeVector.MustEqual(new byte[5000]),
            key: default
        );
        var reader = new CommandReader(buffer.Written.Span);
        Assert.True(reader.TryReadOperation(out Operation delete));
        Assert.InRange(delete.Expected.Text.Length, ChangeVector.MaxBytes + 1, ExpectedChangeVector.MaxBytes);
        Assert.False(reader.TryReadOperation(out _));
    }

    [Fact]
    public void A_put_of_a_small_document_allocates_nothing()
    {
        using DocumentParser parser = DocumentParser.Rent();
        Assert.True(parser.TryParse(Bytes("""{"a":1}"""), out ParsedDocument document, out _));
        CommandEncoder.Put(database: 1, "users/1"u8, expected: default, document, key: default).Dispose();
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int round = 0; round < 100; round++)
        {
            CommandEncoder.Put(database: 1, "users/1"u8, expected: default, document, key: default).Dispose();
        }

        Assert.Equal(before, GC.GetAllocatedBytesForCurrentThread());
    }

    [Fact]
    public void Idempotency_keys_are_hashed_and_limited()
    {
        Assert.True(IdempotencyKey.TryCreate("abc"u8, out IdempotencyKey key, out _));
        // The beginning of SHA-256 of "abc", as FIPS 180 gives it.
        Assert.Equal(new IdempotencyKey(0xBA7816BF8F01CFEA, 0x414140DE5DAE2223), key);
        // A key has 1 to 128 bytes.
        foreach (int length in new[] { 0, 129 })
        {
            Assert.False(IdempotencyKey.TryCreate(new byte[length], out _, out InputError error));
            AssertHelpful(error);
        }
    }

    private static CommandBuffer EncodePut(string id)
    {
        using DocumentParser parser = DocumentParser.Rent();
        Assert.True(parser.TryParse("{}"u8, out ParsedDocument document, out _));
        return CommandEncoder.Put(database: 1, Bytes(id), expected: default, document, key: default);
    }

    private static CommandBuffer EncodeBatch()
    {
        byte[] body = Bytes(
            """{"Commands":[{"Id":"É","Type":"PUT","ChangeVector":"A:1","Document":{"a":1,"@metadata":{"@expires":"2026-11-21T09:49:45Z"}}},{"Id":"b","Type":"DELETE"},{"Id":"c","Type":"PATCH","Patch":{"Script":"this.a = args.x","Values":{"x":1}}}]}"""
        );
        Assert.True(
            BatchRequestParser.TryParse(
                body,
                database: 1,
                Key,
                maxBatchBytes: 1 << 20,
                out ParsedBatch batch,
                out InputError error
            ),
            error.ToString()
        );
        return batch.Command;
    }

    private static (string Written, string Lower) Resolve(CommandId id, long number)
    {
        byte[] written = new byte[DocumentId.MaxBytes],
            lower = new byte[DocumentId.MaxBytes];
        int length = id.Resolve(number, written, lower, out int lowerLength);
        return (Text(written.AsSpan(0, length)), Text(lower.AsSpan(0, lowerLength)));
    }
}
