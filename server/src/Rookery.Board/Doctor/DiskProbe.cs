using Rookery.Platform;

namespace Rookery.Board.Doctor;

/// <summary>
/// How fast a file system takes what a journal asks of it: one file of 16 MiB, written once and then overwritten in
/// small synced pieces, and deleted.
/// </summary>
/// <param name="Directory">Where.</param>
/// <param name="BytesPerSecond">The rate of the sequential write, its sync included.</param>
/// <param name="MedianSyncMilliseconds">What half of the writes of 4 KiB with their syncs did not exceed.</param>
/// <param name="SlowSyncMilliseconds">What 99 % of them did not exceed.</param>
public sealed record DiskProbe(
    string Directory,
    double BytesPerSecond,
    double MedianSyncMilliseconds,
    double SlowSyncMilliseconds
)
{
    /// <summary>What a probe writes at most in one file, which must be free beyond the node's reserve.</summary>
    public const long FileBytes = 16 << 20;

    private const string FileName = "doctor-probe";
    private const int ChunkBytes = 1 << 20;
    private const int PieceBytes = 4 << 10;
    private const int MostSyncs = 200;

    // A card that takes a second for each sync has been found out long before 200 of them.
    private static readonly TimeSpan LongestSyncing = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Measures. The file has no name while it is written and is gone afterwards, whatever happens: a node that joins
    /// looks at what lies beside it, and takes nothing that it does not know.
    /// </summary>
    /// <exception cref="DiskException">The disk refused.</exception>
    public static DiskProbe Run(IDisk disk, string directory, TimeProvider time)
    {
        string path = Path.Join(directory, FileName);
        if (disk.Exists(path))
        {
            disk.Delete(path); // of a probe that was killed between the two lines below
        }

        using var file = disk.Open(path, DiskOpen.CreateNew);
        disk.Delete(path);
        double bytesPerSecond = WriteAll(file, time);
        double[] syncs = SyncPieces(file, time);
        return new DiskProbe(directory, bytesPerSecond, syncs[syncs.Length / 2], syncs[(int)(syncs.Length * 0.99)]);
    }

    private static double WriteAll(IDiskFile file, TimeProvider time)
    {
        // No zeros: a device may take those without writing them.
        byte[] chunk = new byte[ChunkBytes];
        Random.Shared.NextBytes(chunk);
        long begun = time.GetTimestamp();
        for (long offset = 0; offset < FileBytes; offset += ChunkBytes)
        {
            file.Write(chunk, offset);
        }

        file.Sync();
        return FileBytes / Math.Max(time.GetElapsedTime(begun).TotalSeconds, 1e-6);
    }

    private static double[] SyncPieces(IDiskFile file, TimeProvider time)
    {
        byte[] piece = new byte[PieceBytes];
        var syncs = new List<double>(MostSyncs);
        long begun = time.GetTimestamp();
        while (syncs.Count < MostSyncs && (syncs.Count == 0 || time.GetElapsedTime(begun) < LongestSyncing))
        {
            Random.Shared.NextBytes(piece);
            long started = time.GetTimestamp();
            file.Write(piece, (long)syncs.Count * PieceBytes);
            file.Sync();
            syncs.Add(time.GetElapsedTime(started).TotalMilliseconds);
        }

        syncs.Sort();
        return [.. syncs];
    }
}
