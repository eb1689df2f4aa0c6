using System.Globalization;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Parsing;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>Background work of a node without threads: flushes, merges, expiry.</summary>
public sealed class BackgroundWorkTests
{
    private const string Directory = "/data/node";
    private readonly SimulatedDisk _disk = new("/data");
    private readonly SimulatedTimeProvider _time = new();

    [Fact]
    public void Merges_drop_rows_by_etag_of_replaced_versions()
    {
        using var node = SteppedNode.Open(_disk, Directory, _time);
        node.CreateDatabase("db");
        for (int round = 0; round < 40; round++)
        {
            for (int i = 0; i < 40; i++)
            {
                node.Put("db", IdOf(i), BodyOf(round));
            }

            node.Flush();
        }

        var byEtag = node
            .Core.Storage.Statistics()
            .Groups.Single(static group => group.Tables.Contains("by etag", StringComparison.Ordinal));
        // Each document has two rows in the group. Merges wait for a few runs, so at most ten rounds have rows.
        Assert.InRange(byEtag.Rows, 2 * 40, 2 * 40 * 10);
        Assert.Equal(40, node.Documents("db").Count);
    }

    [Fact]
    public void A_merge_frees_space_even_if_no_spare_segment_can_be_allocated()
    {
        using var node = SteppedNode.Open(_disk, Directory, _time);
        _disk.Inject(
            new DiskFault(AtCall: 1, Errno.NoSpace)
            {
                Calls = DiskCalls.Allocate,
                PathContains = "/journal/",
                Sticky = true,
            }
        );
        node.CreateDatabase("db");
        for (int round = 0; round < 8; round++)
        {
            node.Put("db", "always/the-same", BodyOf(round));
            node.Core.Storage.Memtables.RequestFlush();
            Assert.Throws<DiskException>(() =>
            {
                while (node.Core.Background.DoStep()) { }
            });
        }

        Assert.True(node.Core.Storage.Statistics().Compactions > 0, "the runs are merged despite the fault");
    }

    [Fact]
    public void A_hot_board_flushes_but_merges_nothing_until_it_has_cooled_down()
    {
        using var node = SteppedNode.Open(_disk, Directory, _time);
        node.CreateDatabase("db");
        // The share of time for merges, which the node sets by its temperature.
        node.Core.Background.Pacer.Share = 0;
        for (int round = 0; round < 20; round++)
        {
            node.Put("db", IdOf(round), BodyOf(round));
            node.Flush();
        }

        var paused = node.Core.Storage.Statistics();
        Assert.True(paused.Flushes >= 20, "each round is flushed, so that the journal does not grow while it is hot");
        Assert.Equal(0, paused.Compactions);

        node.Core.Background.Pacer.Share = 1;
        node.Flush();
        Assert.True(node.Core.Storage.Statistics().Compactions > 0, "merges continue at full share");
    }

    [Fact]
    public void A_hot_board_merges_while_its_disk_is_full()
    {
        using var node = SteppedNode.Open(
            _disk,
            SteppedNode.Options(Directory) with
            {
                Reserve = new ReserveRule(Bytes: 1 << 20, Fraction: 0),
            },
            _time
        );
        node.CreateDatabase("db");
        node.Core.Background.Pacer.Share = 0;
        for (int round = 0; round < 20; round++)
        {
            node.Put("db", IdOf(round), BodyOf(round));
            node.Flush();
        }

        // Less than the reserve of 1 MiB is free; free space is checked once a second.
        _disk.CapacityBytes = _disk.UsedBytes + (512 << 10);
        _time.Advance(TimeSpan.FromSeconds(1));
        node.Flush();
        Assert.True(node.Core.Storage.Statistics().Compactions > 0, "merges free space although the board is hot");
    }

    [Fact]
    public void A_backup_that_pins_the_journal_does_not_cause_repeated_flushes()
    {
        using var node = SteppedNode.Open(_disk, Directory, _time);
        node.CreateDatabase("db");
        node.Flush();
        using var backupReader = node.Core.Journal.Read();
        for (int i = 0; i < 300; i++)
        {
            node.Put("db", IdOf(i), BodyOf(i));
            while (node.Core.Background.DoStep()) { }
        }

        // Far fewer than one for each of the 300 writes.
        Assert.InRange(node.Core.Storage.Statistics().Flushes, 2, 12);
    }

    [Fact]
    public void Removing_an_idempotency_key_removes_the_chunks_of_its_outcome()
    {
        using var node = SteppedNode.Open(_disk, Directory, _time);
        node.CreateDatabase("db");
        node.Run(PutBatch(node.Database("db").Number, new IdempotencyKey(1, 1), documents: 3000));
        node.Flush();
        Assert.True(HasChunks(node), "the outcome is so large that it has chunks");
        // Keys are kept for a day.
        _time.Advance(TimeSpan.FromHours(25));
        node.Run(PutBatch(node.Database("db").Number, new IdempotencyKey(2, 2), documents: 1));
        node.Flush();
        Assert.False(HasChunks(node), "the chunks are removed with the key");
    }

    private static bool HasChunks(SteppedNode node) =>
        node
            .Core.Storage.Statistics()
            .Groups.Any(static group => group.Tables.Contains("chunks", StringComparison.Ordinal));

    private static CommandBuffer PutBatch(uint database, IdempotencyKey key, int documents)
    {
        using var writer = new BatchWriter(CommandKind.Batch, database, key);
        for (int i = 0; i < documents; i++)
        {
            writer.Put(Encoding.UTF8.GetBytes(IdOf(i)), default, new ParsedDocument { BodyHead = "\"n\":1"u8 });
        }

        return writer.Complete();
    }

    private static string IdOf(int number) => string.Create(CultureInfo.InvariantCulture, $"documents/{number}");

    private static string BodyOf(int number) => string.Create(CultureInfo.InvariantCulture, $$"""{"n":{{number}}}""");
}
