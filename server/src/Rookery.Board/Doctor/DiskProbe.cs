using Rookery.Platform;

namespace Rookery.Board.Doctor;

/// <summary>
/// How fast a file system is for a journal: one file of 16 MiB, written once sequentially, then overwritten in synced
/// writes of 4 KiB, and deleted.
/// </summary>
/// <param name="Directory">The probed directory.</param>
/// <param name="BytesPerSecond">The rate of the sequential write, with its sync.</param>
/// <param name="MedianSyncMilliseconds">The median duration of a write of 4 KiB with its sync.</param>
/// <param name="SlowSyncMilliseconds">The 99th percentile of these durations.</param>
public sealed record DiskProbe(
    string Directory,
    double BytesPerSecond,
    double MedianSyncMilliseconds,
    double SlowSyncMilliseconds
)
{
    /// <summary>The size of the probe's file, which must be free beyond the node's space reserve.</summary>
    public const long FileBytes = 16 << 20;

    private const string FileName = "doctor-probe";
    private const int ChunkBytes = 1 << 20;
    private const int PieceBytes = 4 << 10;
    private const int MaxSyncs = 200;

    // A card that takes a second per sync is known to be slow long before 200 syncs.
    private static readonly TimeSpan MaxSyncTime = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Measures a directory. The file is unlinked before it is written, so nothing remains even if the process is
    /// killed: a joining node refuses a directory with unknown files.
    /// </summary>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public static DiskProbe Run(IDisk disk, string directory, TimeProvider time)
    {
        string path = Path.Join(directory, FileName);
        if (disk.Exists(path))
        {
            disk.Delete(path); // left by a probe that was killed between the next two lines
        }

        using var file = disk.Open(path, DiskOpen.CreateNew);
        disk.Delete(path);
        double bytesPerSecond = WriteAll(file, time);
        double[] syncs = SyncPieces(file, time);
        return new DiskProbe(directory, bytesPerSecond, syncs[syncs.Length / 2], syncs[(int)(syncs.Length * 0.99)]);
    }

    private static double WriteAll(IDiskFile file, TimeProvider time)
    {
        // Random bytes, because a device may store zeros without writing them.
        byte[] chunk = new byte[ChunkBytes];
        Random.Shared.NextBytes(chunk);
        long startedAt = time.GetTimestamp();
        for (long offset = 0; offset < FileBytes; offset += ChunkBytes)
        {
            file.Write(chunk, offset);
        }

        file.Sync();
        return FileBytes / Math.Max(time.GetElapsedTime(startedAt).TotalSeconds, 1e-6);
    }

    /// <summary>Returns the durations of the synced writes in milliseconds, ascending.</summary>
    private static double[] SyncPieces(IDiskFile file, TimeProvider time)
    {
        byte[] piece = new byte[PieceBytes];
        var syncs = new List<double>(MaxSyncs);
        long firstStartedAt = time.GetTimestamp();
        while (syncs.Count < MaxSyncs && (syncs.Count == 0 || time.GetElapsedTime(firstStartedAt) < MaxSyncTime))
        {
            Random.Shared.NextBytes(piece);
            long startedAt = time.GetTimestamp();
            file.Write(piece, (long)syncs.Count * PieceBytes);
            file.Sync();
            syncs.Add(time.GetElapsedTime(startedAt).TotalMilliseconds);
        }

        syncs.Sort();
        return [.. syncs];
    }
}
