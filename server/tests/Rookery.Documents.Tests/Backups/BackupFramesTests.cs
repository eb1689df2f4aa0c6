using System.Buffers;
using System.Buffers.Binary;
using Rookery.Documents.Backups;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Backups;

/// <summary>The file of journal entries in a backup, when it is damaged or truncated.</summary>
public sealed class BackupFramesTests
{
    private const string Path = "/backup/frames";

    // Lengths instead of the right one, which is 50.
    [Theory]
    [InlineData(int.MaxValue)]
    [InlineData(200 << 20)]
    [InlineData(51)]
    [InlineData(49)]
    [InlineData(0)]
    [InlineData(-1)]
    [InlineData(int.MinValue)]
    public void A_damaged_length_is_refused_before_memory_for_it_is_allocated(int length)
    {
        var bytes = new ArrayBufferWriter<byte>();
        bytes.Write(BackupFrames.Preamble);
        BackupFrames.Write(
            bytes,
            new JournalFrame(FrameType.Batch, Index: 1, Term: 1, OperationsBefore: 0, OperationCount: 1, new byte[50])
        );
        byte[] damaged = bytes.WrittenSpan.ToArray();
        BinaryPrimitives.WriteInt32LittleEndian(damaged.AsSpan(BackupFrames.Preamble.Length), length);
        var disk = new SimulatedDisk("/backup");
        using var file = disk.Open(Path, DiskOpen.CreateNew);
        file.Write(damaged, offset: 0);
        long before = GC.GetAllocatedBytesForCurrentThread();
        var refused = Assert.Throws<BackupException>(() => BackupFrames.Read(file).Count());
        // Far less than the 200 MiB of one case, and more than reading itself needs.
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 4 << 20);
        Assert.Contains($"byte {BackupFrames.Preamble.Length}", refused.Message, StringComparison.Ordinal);
        Assert.EndsWith("Use another backup.", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_truncated_file_is_reported_as_incomplete_and_not_as_another_version()
    {
        var bytes = new ArrayBufferWriter<byte>();
        bytes.Write(BackupFrames.Preamble);
        var frameEnds = new List<int> { bytes.WrittenCount };
        for (int index = 1; index <= 2; index++)
        {
            BackupFrames.Write(
                bytes,
                new JournalFrame(
                    FrameType.Batch,
                    index,
                    Term: 1,
                    OperationsBefore: index - 1,
                    OperationCount: 1,
                    Payload: new byte[50]
                )
            );
            frameEnds.Add(bytes.WrittenCount);
        }

        for (int length = 0; length <= bytes.WrittenCount; length++)
        {
            var disk = new SimulatedDisk("/backup");
            using var file = disk.Open(Path, DiskOpen.CreateNew);
            file.Write(bytes.WrittenSpan[..length], offset: 0);
            if (frameEnds.Contains(length))
            {
                Assert.Equal(frameEnds.IndexOf(length), BackupFrames.Read(file).Count());
                continue;
            }

            var refused = Assert.Throws<BackupException>(() => BackupFrames.Read(file).Count());
            Assert.Contains("is incomplete or damaged", refused.Message, StringComparison.Ordinal);
            Assert.EndsWith("Use another backup.", refused.Message, StringComparison.Ordinal);
        }
    }
}
