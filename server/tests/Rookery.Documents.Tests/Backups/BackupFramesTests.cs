using System.Buffers;
using Rookery.Documents.Backups;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Backups;

public sealed class BackupFramesTests
{
    private const string Path = "/backup/frames";

    [Fact]
    public void A_truncated_file_is_reported_as_incomplete_and_not_as_another_version()
    {
        var bytes = new ArrayBufferWriter<byte>();
        bytes.Write(BackupFrames.Preamble);
        var ends = new List<int> { bytes.WrittenCount };
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
            ends.Add(bytes.WrittenCount);
        }

        for (int length = 0; length <= bytes.WrittenCount; length++)
        {
            var disk = new SimulatedDisk("/backup");
            using var file = disk.Open(Path, DiskOpen.CreateNew);
            file.Write(bytes.WrittenSpan[..length], 0);
            if (ends.Contains(length))
            {
                Assert.Equal(ends.IndexOf(length), BackupFrames.Read(file).Count());
                continue;
            }

            var refused = Assert.Throws<BackupException>(() => BackupFrames.Read(file).Count());
            Assert.Contains("is incomplete or damaged", refused.Message, StringComparison.Ordinal);
            Assert.EndsWith("Use another backup.", refused.Message, StringComparison.Ordinal);
        }
    }
}
