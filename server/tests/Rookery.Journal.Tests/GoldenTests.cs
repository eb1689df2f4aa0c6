using System.IO.Compression;
using Rookery.Simulation;
using static Rookery.Journal.Tests.TestJournal;

namespace Rookery.Journal.Tests;

/// <summary>Reads the journals in Golden/, written by released versions. All later versions must read them.</summary>
public sealed class GoldenTests
{
    [Theory]
    [InlineData(1, 0)]
    [InlineData(2, 19)]
    public void A_journal_of_each_format_is_read(int version, long committed)
    {
        var disk = Load(version);
        using var journal = Open(disk);
        Assert.Equal(TailVerdict.ContinueAfterCleanStop, journal.Recovery.Verdict);
        Assert.Equal(committed, journal.CommittedIndex);
        Assert.Equal(Encode([1, 2, 3]), journal.Vote.ToArray());
        Assert.Equal(Encode([4, 5, 6]), journal.Configuration.ToArray());
        var frames = ReadAll(journal);
        Assert.Equal(Enumerable.Range(1, 20).Select(static i => (long)i), frames.Select(static frame => frame.Index));
        Assert.Equal(
            [FrameType.Configuration, FrameType.NoOp, FrameType.Batch],
            frames.Take(3).Select(static frame => frame.Type)
        );
        byte[] content = new byte[Payload.ContentLength(frames[2].Payload.Span)];
        Assert.True(Payload.TryDecode(frames[2].Payload.Span, content));
        Assert.Equal(CompressibleContent(), content);
        for (int i = 3; i < 20; i++)
        {
            Assert.Equal(PayloadOf(i + 1, variant: 7, length: 3000), frames[i].Payload.ToArray());
        }

        journal.Write([Next(journal, term: 2)]);
        Assert.Equal(24, journal.OperationsBeforeNext); // 22 of the golden journal, and 2 of the entry
    }

    /// <summary>
    /// If new frames were appended, an older program would stop at an unknown frame, and could not report that it is
    /// too old.
    /// </summary>
    [Fact]
    public void Segments_of_an_older_format_are_never_appended_to()
    {
        var disk = Load(1);
        string[] oldFiles = [.. disk.Files];
        byte[][] before = [.. oldFiles.Select(disk.ReadAll)];
        using (var journal = Open(disk))
        {
            journal.Write([Next(journal, term: 2), NodeJournal.MakeCommitFrame(20)]);
        }

        Assert.Equal(before, oldFiles.Select(disk.ReadAll));
        using var again = Open(disk);
        Assert.Equal((21, 20), (again.LastIndex, again.CommittedIndex));
    }

    /// <summary>
    /// Writes the golden journal when ROOKERY_WRITE_GOLDEN names a directory: once per format version, before its first
    /// release.
    /// </summary>
    [Fact]
    public void The_golden_journal_can_be_rewritten()
    {
        var disk = new SimulatedDisk("/data");
        using (var journal = Open(disk))
        {
            journal.Write([
                new JournalFrame(
                    FrameType.Vote,
                    Index: 0,
                    Term: 1,
                    OperationsBefore: 0,
                    OperationCount: 0,
                    Encode([1, 2, 3])
                ),
                new JournalFrame(
                    FrameType.Configuration,
                    Index: 1,
                    Term: 1,
                    OperationsBefore: 0,
                    OperationCount: 0,
                    Encode([4, 5, 6])
                ),
                new JournalFrame(
                    FrameType.NoOp,
                    Index: 2,
                    Term: 1,
                    OperationsBefore: 0,
                    OperationCount: 0,
                    Payload: default
                ),
                new JournalFrame(
                    FrameType.Batch,
                    Index: 3,
                    Term: 1,
                    OperationsBefore: 0,
                    OperationCount: 5,
                    Encode(CompressibleContent())
                ),
            ]);
            // The entries after 18 are truncated below.
            for (int index = 4; index <= 22; index++)
            {
                journal.Write([
                    new JournalFrame(
                        FrameType.Batch,
                        index,
                        Term: 1,
                        OperationsBefore: index + 1,
                        OperationCount: 1,
                        PayloadOf(index, variant: index > 18 ? 6 : 7, length: 3000)
                    ),
                    NodeJournal.MakeCommitFrame(Math.Min(18, index - 1)),
                ]);
            }

            journal.Write([
                new JournalFrame(
                    FrameType.Truncation,
                    Index: 18,
                    Term: 1,
                    OperationsBefore: 20,
                    OperationCount: 0,
                    Payload: default
                ),
                new JournalFrame(
                    FrameType.Batch,
                    Index: 19,
                    Term: 2,
                    OperationsBefore: 20,
                    OperationCount: 1,
                    PayloadOf(19, variant: 7, length: 3000)
                ),
                new JournalFrame(
                    FrameType.Batch,
                    Index: 20,
                    Term: 2,
                    OperationsBefore: 21,
                    OperationCount: 1,
                    PayloadOf(20, variant: 7, length: 3000)
                ),
                NodeJournal.MakeCommitFrame(19),
            ]);
            journal.StopCleanly();
        }

        Assert.Equal(6, disk.Files.Count); // four segments, the lock and the file "newest"
        if (Environment.GetEnvironmentVariable("ROOKERY_WRITE_GOLDEN") is { Length: > 0 } target)
        {
            foreach (
                string file in disk.Files.Where(static file => file.EndsWith(".segment", StringComparison.Ordinal))
            )
            {
                using var packed = new MemoryStream();
                using (var zip = new GZipStream(packed, CompressionLevel.SmallestSize))
                {
                    zip.Write(disk.ReadAll(file));
                }

                File.WriteAllBytes(Path.Join(target, Path.GetFileName(file) + ".gz"), packed.ToArray());
            }
        }
    }

    /// <summary>Copies a golden journal to a simulated disk.</summary>
    private static SimulatedDisk Load(int version)
    {
        var disk = new SimulatedDisk("/data/journal");
        foreach (string file in System.IO.Directory.GetFiles(GoldenDirectory(version)))
        {
            using var packed = new GZipStream(new MemoryStream(File.ReadAllBytes(file)), CompressionMode.Decompress);
            using var plain = new MemoryStream();
            packed.CopyTo(plain);
            disk.WriteNew($"{Folder}/{Path.GetFileNameWithoutExtension(file)}", plain.ToArray());
        }

        return disk;
    }

    private static byte[] CompressibleContent() => [.. Enumerable.Range(0, 20_000).Select(static i => (byte)(i / 100))];

    private static string GoldenDirectory(int version) => Path.Join(AppContext.BaseDirectory, "Golden", $"v{version}");
}
