using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Simulation;
using Rookery.Storage;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>Documents whose @expires has passed are absent for clients before they are removed.</summary>
public sealed class ExpiredDocumentTests : IDisposable
{
    private readonly SimulatedTimeProvider _time = new(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero));
    private readonly SimulatedDisk _disk = new("/data");
    private SteppedNode _node;
    private bool _isSure = true;
    private int _clockReadings;

    public ExpiredDocumentTests()
    {
        _node = Open();
        _node.CreateDatabase("db");
        _node.Put("db", "a", """{"@metadata":{"@collection":"Cats","@expires":"2026-01-01T00:01:00Z"}}""");
        string noise = new('x', 200_000);
        string metadata = """{"@collection":"Cats","@expires":"2026-01-01T00:01:00Z"}""";
        _node.Put("db", "b", $$"""{"n":"{{noise}}","@metadata":{{metadata}}}""");
        _node.Put("db", "c", """{"@metadata":{"@collection":"Cats"}}""");
        _node.Put("db", "d", """{"@metadata":{"@collection":"Cats","@expires":"2026-01-01T00:01:00.0000001Z"}}""");
    }

    public void Dispose() => _node.Dispose();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_client_finds_a_document_until_the_moment_it_expires(bool isFlushed)
    {
        if (isFlushed)
        {
            _node.Flush();
        }

        _time.Advance(TimeSpan.FromMinutes(1) - TimeSpan.FromTicks(1));
        AssertFound("a", "b", "c", "d");
        _time.Advance(TimeSpan.FromTicks(1));
        AssertFound("c", "d");
        _time.Advance(TimeSpan.FromTicks(1));
        AssertFound("c");
    }

    [Fact]
    public void The_ids_of_absent_documents_are_read_up_to_a_number()
    {
        _time.Advance(TimeSpan.FromMinutes(2));
        using var reader = _node.Database("db").OpenReader();
        Assert.Null(ExpiredDocuments.TryReadIds(reader, max: 2));
        Assert.Equal(
            ["a", "b", "d"],
            ExpiredDocuments.TryReadIds(reader, max: 3)!.Select(static id => Encoding.UTF8.GetString(id)).Order()
        );
    }

    [Fact]
    public void A_reader_finds_the_same_documents_as_long_as_it_is_open()
    {
        using var reader = _node.Database("db").OpenReader();
        _time.Advance(TimeSpan.FromMinutes(2));
        Assert.Equal(["a", "b", "c", "d"], Ids(reader.SeekByIdPrefix([])));
        Assert.True(reader.TryGetDocument("a"u8, out var document));
        document.Dispose();
        AssertFound("c");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Documents_that_expired_are_absent_after_a_restart(bool isFlushed)
    {
        if (isFlushed)
        {
            _node.Flush();
        }

        _node.Dispose();
        _node = Open();
        _time.Advance(TimeSpan.FromMinutes(2));
        AssertFound("c");
    }

    [Fact]
    public void Documents_that_expired_are_absent_after_their_database_was_disabled_and_enabled()
    {
        foreach (string text in (string[])["true", "null"])
        {
            _node.Run(
                CommandEncoder.SetConfiguration(
                    _node.Database("db").Number,
                    ConfigurationName.Disabled,
                    Encoding.UTF8.GetBytes(text)
                )
            );
        }

        _time.Advance(TimeSpan.FromMinutes(2));
        AssertFound("c");
    }

    [Fact]
    public void Damaged_rows_of_expiry_neither_prevent_a_start_nor_show_documents_that_expired()
    {
        _node.Flush();
        _time.Advance(TimeSpan.FromMinutes(2));
        int damagedStarts = 0;
        foreach (string path in _disk.Files.Where(static path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            for (long offset = 20; offset < DamageTests.Length(_disk, path); offset += 10_000)
            {
                var damaged = _disk.AfterPowerLoss(seed: 1);
                damaged.Rot(path, offset, mask: 1);
                try
                {
                    using var node = Open(damaged);
                    bool isDamaged = HasDamagedExpiry(node.Database("db"));
                    damagedStarts += isDamaged ? 1 : 0;
                    using var reader = node.Database("db").OpenReader();
                    Assert.False(isDamaged && reader.TryGetDocument("a"u8, out _));
                    if (isDamaged)
                    {
                        Assert.Equal(1, Count(reader, collection: null));
                        Assert.Equal(1, Count(reader, "Cats"));
                        Assert.True(ExpiredDocuments.HasAny(reader));
                    }
                }
                catch (DamagedException)
                {
                    // The start needs other rows that are damaged.
                }
            }
        }

        Assert.NotEqual(0, damagedStarts);
    }

    [Fact]
    public void Readers_of_a_database_ask_for_the_time_from_its_first_document_that_expires_on()
    {
        _node.CreateDatabase("other");
        _node.Put("other", "a", "{}");
        _node.Flush();
        _node.Dispose();
        _node = Open();
        Assert.Equal(0, CountClockReadings());

        _node.Put("other", "a", """{"@metadata":{"@expires":"2026-01-01T00:01:00Z"}}""");
        Assert.Equal(1, CountClockReadings());

        int CountClockReadings()
        {
            _clockReadings = 0;
            _node.Database("other").OpenReader().Dispose();
            return _clockReadings;
        }
    }

    [Fact]
    public void A_disabled_configuration_keeps_documents()
    {
        _time.Advance(TimeSpan.FromMinutes(2));
        AssertFound("c");
        uint database = _node.Database("db").Number;
        _node.Run(
            CommandEncoder.SetConfiguration(database, ConfigurationName.Expiration, """{"Disabled":true}"""u8.ToArray())
        );
        AssertFound("a", "b", "c", "d");
    }

    [Fact]
    public void Nothing_expires_while_the_time_is_in_doubt()
    {
        _isSure = false;
        _time.Advance(TimeSpan.FromMinutes(2));
        AssertFound("a", "b", "c", "d");
    }

    [Fact]
    public void Background_work_finds_documents_until_they_are_removed()
    {
        _time.Advance(TimeSpan.FromMinutes(2));
        using var reader = _node.Database("db").OpenBackgroundReader();
        Assert.Equal(["a", "b", "c", "d"], Ids(reader.SeekByIdPrefix([])));
        Assert.True(reader.TryGetDocument("A"u8, out var document));
        document.Dispose();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Documents_that_are_present_are_counted(bool isFlushed)
    {
        _node.Put("db", "e", """{"@metadata":{"@expires":"2026-01-01T00:01:00Z"}}""");
        if (isFlushed)
        {
            _node.Flush();
        }

        AssertPresent(all: 5, cats: 4, others: 1);
        _time.Advance(TimeSpan.FromMinutes(1));
        AssertPresent(all: 2, cats: 2, others: 0);
        _node.Put("db", "a", "{}");
        _node.Run(CommandEncoder.Delete(_node.Database("db").Number, "b"u8, expected: default, key: default));
        AssertPresent(all: 3, cats: 2, others: 1);
        _isSure = false;
        AssertPresent(all: 4, cats: 2, others: 2);

        void AssertPresent(long all, long cats, long others)
        {
            using var reader = _node.Database("db").OpenReader();
            Assert.Equal(all, Ids(reader.SeekByIdPrefix([])).Count);
            Assert.Equal(all, Count(reader, collection: null));
            Assert.Equal(reader.ReadStatistics().Documents > all, ExpiredDocuments.HasAny(reader));
            Assert.Equal(cats, Count(reader, "cats"));
            Assert.Equal(others, Count(reader, "@empty"));
            Assert.Equal(0, Count(reader, "Dogs"));
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_walk_can_pause_at_each_document_that_expired(bool isFlushed)
    {
        if (isFlushed)
        {
            _node.Flush();
        }

        _time.Advance(TimeSpan.FromMinutes(2));
        using var reader = _node.Database("db").OpenReader();
        bool[] present = [false, false, true, false];
        Assert.Equal(present, Walk(reader, reader.SeekByIdPrefix([])));
        Assert.Equal(present, Walk(reader, reader.SeekByEtag(0)));
        Assert.Equal(present.Reverse(), Walk(reader, reader.SeekByEtagBackward()));
        Assert.Equal(present, Walk(reader, reader.SeekByCollection("Cats"u8)));

        static List<bool> Walk(DatabaseReader reader, DocumentCursor cursor)
        {
            using (cursor)
            {
                var walked = new List<bool>();
                while (cursor.MoveNext(out bool isPresent))
                {
                    walked.Add(isPresent);
                    cursor.Pause();
                    cursor.ContinueIn(reader);
                }

                return walked;
            }
        }
    }

    [Theory]
    [InlineData(null)]
    [InlineData("Cats")]
    public void A_count_can_pause_at_each_document_that_expired_and_continue_in_a_newer_snapshot(string? collection)
    {
        _time.Advance(TimeSpan.FromMinutes(2));
        using var count = new PresentCount(collection);
        int pauses = 0;
        while (!Continue())
        {
            pauses++;
            _node.Put("db", "z", "{}"); // a new state replaces the one that was read
            Assert.Equal(TimeSpan.Zero, _node.Core.Storage.Statistics().OldestReaderAge);
        }

        Assert.Equal((3, 1L), (pauses, count.Value));

        bool Continue()
        {
            using var reader = _node.Database("db").OpenReader();
            return count.Continue(reader, static () => true);
        }
    }

    [Fact]
    public void A_database_tells_when_the_next_document_expires()
    {
        var first = new DateTime(2026, 1, 1, 0, 1, 0, DateTimeKind.Utc);
        Assert.Equal(first.Ticks, _node.Database("db").ReadNextExpiry());
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(first.Ticks + 1, _node.Database("db").ReadNextExpiry());
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.Equal(0, _node.Database("db").ReadNextExpiry());
    }

    private static bool HasDamagedExpiry(Database database)
    {
        using var reader = database.OpenBackgroundReader();
        byte[] from = new byte[Key.MaxBytes];
        byte[] to = new byte[Key.MaxBytes];
        var prefix = Key.WritePrefix(from, database.Number, Table.Expiry);
        try
        {
            using var rows = reader.Snapshot.Seek(prefix, Key.WriteAfterPrefix(to, prefix));
            rows.MoveNext();
            return false;
        }
        catch (DamagedException)
        {
            return true;
        }
    }

    private SteppedNode Open(SimulatedDisk? disk = null)
    {
        var node = SteppedNode.Open(disk ?? _disk, "/data/node", _time);
        node.Core.Databases.Clock.Start(() =>
        {
            _clockReadings++;
            return new ClusterTime(_time.GetUtcNow().UtcTicks, _isSure);
        });
        return node;
    }

    private void AssertFound(params string[] ids)
    {
        using var reader = _node.Database("db").OpenReader();
        Assert.Equal(ids, Ids(reader.SeekByIdPrefix([])));
        Assert.Equal(ids, Ids(reader.SeekByEtag(0)));
        Assert.Equal(ids, Ids(reader.SeekByCollection("Cats"u8)));
        foreach (string id in (string[])["a", "b", "c", "d"])
        {
            bool exists = reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document);
            document.Dispose();
            Assert.Equal(ids.Contains(id, StringComparer.Ordinal), exists);
        }
    }

    // Pauses after each row.
    private static long Count(in DatabaseReader reader, string? collection)
    {
        using var count = new PresentCount(collection);
        while (!count.Continue(reader, static () => true)) { }
        return count.Value;
    }

    private static List<string> Ids(DocumentCursor cursor)
    {
        using (cursor)
        {
            var ids = new List<string>();
            while (cursor.MoveNext())
            {
                ids.Add(Encoding.UTF8.GetString(cursor.Head.Id));
            }

            return ids;
        }
    }
}
