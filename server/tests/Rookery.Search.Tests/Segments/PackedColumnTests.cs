using Rookery.Fixtures;
using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Writing;
using Rookery.Simulation;

namespace Rookery.Search.Tests.Segments;

/// <summary>Reads of a column return the written values.</summary>
public sealed class PackedColumnTests
{
    private const string Folder = "/data/index";
    private const string File = Folder + "/segment-1";
    private const long FileId = 1;

    /// <summary>Each chunk has its own number of bits.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(PackedColumnRoot.ChunkLength)]
    [InlineData((5 * PackedColumnRoot.ChunkLength) + 3)]
    public void Values_are_read_in_any_order_by_index_and_by_reader(int count)
    {
        var random = new Random(count);
        ulong[] values = [.. Enumerable.Range(0, count).Select(index => DrawValue(random, index))];
        var disk = new SimulatedDisk("/data", Folder);
        var context = StoreContents.ContextOf(disk);
        var root = Write(disk, values, context.Io);
        using var pages = new SegmentFile(disk.Open(File, DiskOpen.Read), FileId, context.Cache, context.Io);
        var column = new PackedColumn(pages, root);
        var reader = new PackedColumn.Reader(column);
        Assert.Equal(count, column.Count);
        for (int i = 0; i < count; i++)
        {
            Assert.Equal(values[i], column[i]);
            Assert.Equal(values[i], reader[i]);
            int other = random.Next(count);
            Assert.Equal(values[other], reader[other]);
        }
    }

    /// <summary>
    /// Draws a value by its chunk: one bit, constant, as many bits as can be packed, or ten bits above a high base.
    /// </summary>
    private static ulong DrawValue(Random random, int index) =>
        (index / PackedColumnRoot.ChunkLength) switch
        {
            0 => (ulong)random.Next(2),
            1 => 7,
            2 => (ulong)random.NextInt64(1L << PackedColumnRoot.BitsLimit),
            _ => (1UL << 60) + (ulong)random.Next(1000),
        };

    private static PackedColumnRoot Write(SimulatedDisk disk, ulong[] values, IIoRecorder io)
    {
        using var output = new SegmentOutput(disk, File, FileId, io);
        var writer = new PackedColumnWriter(output);
        Array.ForEach(values, writer.Add);
        var root = writer.Finish();
        output.Finish();
        return root;
    }
}
