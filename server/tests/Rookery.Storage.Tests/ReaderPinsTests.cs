using Rookery.Simulation;

namespace Rookery.Storage.Tests;

/// <summary>
/// Readers of older states pin memory and files. When they pin too much, those of the oldest state are ended.
/// </summary>
public sealed class ReaderPinsTests
{
    private readonly SimulatedDisk _disk = new("/data");
    private long _index;

    [Fact]
    public void Readers_of_the_oldest_state_are_ended_when_they_pin_too_much_memory()
    {
        using StorageEngine engine = EngineWorkload.Open(
            _disk,
            EngineWorkload.Options with
            {
                ReaderMemoryBytes = 30 * 1024,
            }
        );
        Fill(engine, bytes: 4_000);
        using Snapshot oldest = engine.OpenSnapshot();
        var endedToken = oldest.Ended;
        Fill(engine, bytes: 60_000);
        oldest.ThrowIfEnded();
        Assert.InRange(engine.Statistics().ReaderMemoryBytes, 4_000, 30 * 1024);

        using Snapshot newer = engine.OpenSnapshot();
        Fill(engine, bytes: 60_000);
        Assert.Throws<SnapshotEndedException>(oldest.ThrowIfEnded);
        Assert.True(endedToken.WaitHandle.WaitOne(TimeSpan.FromSeconds(30)));
        newer.ThrowIfEnded();
        Assert.False(newer.Ended.IsCancellationRequested);
        Assert.Equal(1, engine.Statistics().EndedReads);

        // An ended reader can read its state until it is disposed.
        Assert.True(oldest.TryGet(EngineWorkload.Key(database: 1, table: 1, "key1"), out Row row));
        row.Dispose();
    }

    [Fact]
    public void Readers_are_ended_when_they_pin_too_many_bytes_of_files()
    {
        using StorageEngine engine = EngineWorkload.Open(
            _disk,
            EngineWorkload.Options with
            {
                ReaderFileBytes = 20_000,
            }
        );
        Fill(engine, bytes: 40_000);
        engine.Memtables.RequestFlush();
        DoBackgroundWork(engine);
        using Snapshot snapshot = engine.OpenSnapshot();
        WriteBatch deletion = engine.Begin(++_index, term: 1);
        deletion.DeleteRange(
            EngineWorkload.Key(database: 1, table: 0, string.Empty).AsSpan(0, 4),
            EngineWorkload.Key(database: 2, table: 0, string.Empty).AsSpan(0, 4),
            _index
        );
        engine.Apply(deletion, _index);
        DoBackgroundWork(engine);
        Assert.Throws<SnapshotEndedException>(snapshot.ThrowIfEnded);
        Assert.True(engine.Statistics().ReaderFileBytes > 20_000);
    }

    [Fact]
    public void Snapshots_of_background_work_are_ended_first_and_never_end_those_of_clients()
    {
        using StorageEngine engine = EngineWorkload.Open(
            _disk,
            EngineWorkload.Options with
            {
                ReaderMemoryBytes = 30 * 1024,
            }
        );
        Fill(engine, bytes: 4_000);
        using Snapshot client = engine.OpenSnapshot();
        Fill(engine, bytes: 60_000);
        using Snapshot background = engine.OpenBackgroundSnapshot();
        Assert.False(background.IsEnded);
        Fill(engine, bytes: 60_000);
        Assert.True(background.IsEnded);
        Assert.Throws<SnapshotEndedException>(background.ThrowIfEnded);
        client.ThrowIfEnded();
        Assert.Equal(0, engine.Statistics().EndedReads);
    }

    [Fact]
    public void A_client_can_share_a_snapshot_that_background_work_opened()
    {
        using StorageEngine engine = EngineWorkload.Open(_disk, EngineWorkload.Options);
        Fill(engine, bytes: 1_000);
        Snapshot background = engine.OpenBackgroundSnapshot();
        using Snapshot client = background.Share();
        background.Dispose();
        Fill(engine, bytes: 40_000);
        client.ThrowIfEnded();
        Assert.True(client.TryGet(EngineWorkload.Key(database: 1, table: 1, "key1"), out Row row));
        row.Dispose();
        Assert.False(client.TryGet(EngineWorkload.Key(database: 1, table: 1, "key60"), out _));
    }

    [Fact]
    public void A_token_requested_after_the_end_is_cancelled()
    {
        using StorageEngine engine = EngineWorkload.Open(_disk, EngineWorkload.Options with { ReaderMemoryBytes = 1 });
        Fill(engine, bytes: 1_000);
        using Snapshot snapshot = engine.OpenSnapshot();
        Fill(engine, bytes: 40_000);
        Assert.True(snapshot.Ended.WaitHandle.WaitOne(TimeSpan.FromSeconds(30)));
    }

    /// <summary>Writes values of a number of bytes in all, with flushes and merges.</summary>
    private void Fill(StorageEngine engine, int bytes)
    {
        byte[] value = new byte[500];
        for (int written = 0; written < bytes; written += value.Length)
        {
            new Random((int)_index).NextBytes(value);
            WriteBatch batch = engine.Begin(++_index, term: 1);
            batch.Put(EngineWorkload.Key(database: 1, table: 1, $"key{_index}"), _index, value);
            engine.Apply(batch, _index);
            DoBackgroundWork(engine);
        }
    }

    private static void DoBackgroundWork(StorageEngine engine)
    {
        while (engine.Memtables.IsFlushDue && engine.Memtables.Flush())
        {
            // Each flush writes one memtable.
        }

        while (engine.MergeOnce())
        {
            // Each call merges one part.
        }
    }
}
