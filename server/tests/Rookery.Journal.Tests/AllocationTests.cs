using Rookery.Platform;
using static Rookery.Journal.Tests.TestJournal;

namespace Rookery.Journal.Tests;

/// <summary>Tests on the real disk that the write path allocates no managed memory.</summary>
public sealed class AllocationTests
{
    [Fact]
    public void Writing_and_reading_allocate_nothing_per_frame()
    {
        string directory = System.IO.Directory.CreateTempSubdirectory("rookery-journal-").FullName;
        try
        {
            var options = new JournalOptions
            {
                Directory = Path.Join(directory, "journal"),
                SegmentBytes = 4 * 1024 * 1024,
            };
            using var journal = NodeJournal.Open(new PosixDisk(), options, knowledge: default, new CountingRecorder());
            byte[] payload = PayloadOf(index: 1, variant: 0, length: PayloadBytes);
            var frames = new JournalFrame[1];
            // The first frames grow the buffers.
            Write(5);
            Assert.Equal(0, MeasureAllocated(() => Write(100)));

            using var reader = journal.Read(1);
            Assert.True(reader.Next(out _));
            Assert.Equal(0, MeasureAllocated(() => Assert.True(TryReadNext(reader, count: 100))));

            void Write(int count)
            {
                for (int i = 0; i < count; i++)
                {
                    frames[0] = new JournalFrame(
                        FrameType.Batch,
                        journal.LastIndex + 1,
                        Term: 1,
                        journal.OperationsBeforeNext,
                        OperationCount: 2,
                        payload
                    );
                    journal.Write(frames);
                }
            }
        }
        finally
        {
            System.IO.Directory.Delete(directory, recursive: true);
        }
    }

    [Fact]
    public void A_write_that_is_longer_than_the_largest_buffer_allocates_nothing_again()
    {
        string directory = System.IO.Directory.CreateTempSubdirectory("rookery-journal-").FullName;
        try
        {
            using IDiskFile file = new PosixDisk().Open(Path.Join(directory, "segment"), DiskOpen.CreateNew);
            var stream = new SegmentWriteStream(new CountingRecorder());
            Write();
            Assert.Equal(0, MeasureAllocated(Write));

            void Write()
            {
                const long bytes = (2 * SegmentWriteStream.PieceBytes) + FrameLayout.BlockBytes;
                stream.Begin(file, offset: 0, bytes);
                stream.AddZeros(bytes);
                stream.Sync();
            }
        }
        finally
        {
            System.IO.Directory.Delete(directory, recursive: true);
        }
    }

    /// <summary>Reads the next frames. Returns whether there were as many.</summary>
    private static bool TryReadNext(JournalReader reader, int count)
    {
        bool hasAll = true;
        for (int i = 0; i < count; i++)
        {
            hasAll &= reader.Next(out _);
        }

        return hasAll;
    }

    /// <summary>Returns how many managed bytes some work allocates on this thread.</summary>
    private static long MeasureAllocated(Action work)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        work();
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }
}
