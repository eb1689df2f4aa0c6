using Rookery.Platform;
using Rookery.Simulation;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Tests.Runs;

/// <summary>One row of a model.</summary>
internal readonly record struct ModelRow(long Sequence, RowKind Kind, byte[] Value);

/// <summary>A simulated disk with runs on it, and their cache.</summary>
internal sealed class RunFixture : IDisposable
{
    public const string Directory = "/data";

    private readonly List<RunReader> _opened = [];

    public RunFixture(long cacheBytes = 16 << 20, SimulatedDisk? disk = null)
    {
        Disk = disk ?? new SimulatedDisk(Directory);
        Budget = new MemoryBudget(1 << 30);
        Cache = new BlockCache(Budget.AddShare("blocks", cacheBytes));
    }

    public SimulatedDisk Disk { get; }

    /// <summary>The memory of the cache. All of it must be free at the end.</summary>
    public MemoryBudget Budget { get; }

    public BlockCache Cache { get; }

    /// <summary>The disk calls of runs so far.</summary>
    public CountingRecorder Io { get; } = new();

    public static string PathOf(long fileId) => $"{Directory}/{fileId}.run";

    public static RunWriterOptions Options(int blockBytes = 1024, bool filter = true, bool paced = true) =>
        new(blockBytes, filter, paced, IoKind.RunWrite);

    public RunSummary Write(long fileId, SortedDictionary<byte[], ModelRow> rows, RunWriterOptions? options = null)
    {
        using var writer = new RunWriter(Disk, PathOf(fileId), fileId, options ?? Options(), Io);
        foreach (var (key, row) in rows)
        {
            writer.Add(key, row.Sequence, row.Kind, row.Value);
        }

        return writer.Finish();
    }

    /// <summary>Opens an undamaged run; <see cref="Dispose"/> closes it.</summary>
    public RunReader Open(long fileId)
    {
        var reader = RunReader.Open(Disk, PathOf(fileId), fileId, Cache, Io, out var damage);
        Assert.Null(damage);
        _opened.Add(reader!);
        return reader!;
    }

    public RunReader WriteAndOpen(
        long fileId,
        SortedDictionary<byte[], ModelRow> rows,
        RunWriterOptions? options = null
    )
    {
        Write(fileId, rows, options);
        return Open(fileId);
    }

    public byte[] ReadFile(string path)
    {
        using var file = Disk.Open(path, DiskOpen.Read);
        byte[] bytes = new byte[file.Length];
        Assert.Equal(bytes.Length, file.Read(bytes, offset: 0));
        return bytes;
    }

    public void WriteFile(string path, ReadOnlySpan<byte> bytes)
    {
        using var file = Disk.Open(path, Disk.Exists(path) ? DiskOpen.ReadWrite : DiskOpen.CreateNew);
        file.SetLength(0);
        file.Write(bytes, offset: 0);
    }

    public void Dispose()
    {
        foreach (var reader in _opened)
        {
            reader.Release();
        }

        Cache.Dispose();
        Assert.Equal(0, Budget.UsedBytes);
    }
}

/// <summary>Counts the disk calls that are recorded, and their bytes.</summary>
internal sealed class CountingRecorder : IIoRecorder
{
    private readonly long[] _counts = new long[256];
    private readonly long[] _bytes = new long[256];

    public long Count(IoKind kind) => Interlocked.Read(ref _counts[(int)kind]);

    public long Bytes(IoKind kind) => Interlocked.Read(ref _bytes[(int)kind]);

    public long Begin() => 0;

    public void Record(IoKind kind, long begun, long moved)
    {
        Interlocked.Increment(ref _counts[(int)kind]);
        Interlocked.Add(ref _bytes[(int)kind], moved);
    }
}

/// <summary>Orders keys as the storage does.</summary>
internal sealed class KeyComparer : IComparer<byte[]>
{
    public static KeyComparer Instance { get; } = new();

    public int Compare(byte[]? left, byte[]? right) => left.AsSpan().SequenceCompareTo(right);
}
