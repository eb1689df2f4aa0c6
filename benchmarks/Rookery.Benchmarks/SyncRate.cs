using System.Diagnostics;
using Rookery.Platform;

namespace Rookery.Benchmarks;

/// <summary>Measures the disk: how many commits a second a journal can make with one write and one sync for
/// each.</summary>
internal static class SyncRate
{
    private const int Block = 4096;
    private const int FileBytes = 16 << 20;

    /// <summary>Prints commits a second.</summary>
    public static int Measure(string path, int seconds)
    {
        var disk = new PosixDisk();
        using var file = disk.Open(path, DiskOpen.CreateNew);
        file.Write(new byte[FileBytes], 0);
        file.Sync();
        byte[] block = new byte[Block];
        long count = 0;
        long started = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(started).TotalSeconds < seconds)
        {
            Random.Shared.NextBytes(block);
            file.Write(block, count * Block % FileBytes);
            file.Sync();
            count++;
        }

        Console.WriteLine($"{count / Stopwatch.GetElapsedTime(started).TotalSeconds:0}");
        disk.Delete(path);
        return 0;
    }
}
