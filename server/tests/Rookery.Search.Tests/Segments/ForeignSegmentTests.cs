using System.Text;
using Rookery.Fixtures;
using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Store;
using Rookery.Simulation;

namespace Rookery.Search.Tests.Segments;

/// <summary>
/// A segment is replaced by an undamaged one of another index, or of an older copy of this index.
/// </summary>
public sealed class ForeignSegmentTests
{
    private const string Folder = "/data/index";

    [Fact]
    public void A_segment_of_another_index_is_refused_with_its_path()
    {
        // The terms have the same length, so the segments have the same length too.
        var own = CreateIndex("own");
        AssertRefused(own, Swap(own, CreateIndex("xyz")));
    }

    [Fact]
    public void A_segment_that_an_older_copy_of_the_index_wrote_is_refused_with_its_path()
    {
        var own = CreateIndex("old");
        var copy = own.AfterPowerLoss(seed: 1);
        Apply(own, watermark: 2, "own");
        Apply(copy, watermark: 2, "xyz");
        AssertRefused(own, Swap(own, copy));
    }

    private static void AssertRefused(SimulatedDisk disk, string path)
    {
        var refused = Assert.Throws<SegmentDamagedException>(() => Open(disk).Dispose());
        Assert.Contains(path, refused.Message, StringComparison.Ordinal);
    }

    // Replaces the newest segment of the first disk's index by that of the other, and returns its path.
    private static string Swap(SimulatedDisk disk, SimulatedDisk other)
    {
        string path = NewestOf(disk);
        byte[] bytes = other.ReadAll(NewestOf(other));
        Assert.Equal(disk.ReadAll(path).Length, bytes.Length);
        disk.Delete(path);
        using var file = disk.Open(path, DiskOpen.CreateNew);
        file.Write(bytes, offset: 0);
        file.Sync();
        return path;
    }

    private static string NewestOf(SimulatedDisk disk) =>
        disk
            .Files.Where(static path => path.StartsWith($"{Folder}/segment-", StringComparison.Ordinal))
            .MaxBy(NumberOf)!;

    private static long NumberOf(string path) =>
        long.Parse(path.AsSpan(path.LastIndexOf('-') + 1), System.Globalization.CultureInfo.InvariantCulture);

    private static SimulatedDisk CreateIndex(string term)
    {
        var disk = new SimulatedDisk("/data", Folder);
        Apply(disk, watermark: 1, term);
        return disk;
    }

    private static void Apply(SimulatedDisk disk, long watermark, string term)
    {
        using var store = Open(disk);
        var entry = new IndexEntry();
        entry.Clear();
        entry.Add(0, Encoding.UTF8.GetBytes(term));
        entry.EndEntry();
        store.Put(Encoding.UTF8.GetBytes($"d/{watermark}"), watermark, entry);
        store.Apply(watermark);
    }

    private static SegmentStore Open(SimulatedDisk disk) => SegmentStore.Open(StoreContents.ContextOf(disk), Folder);
}
