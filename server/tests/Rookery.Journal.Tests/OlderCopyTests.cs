using Rookery.Platform;
using Rookery.Simulation;
using static Rookery.Journal.Tests.TestJournal;

namespace Rookery.Journal.Tests;

/// <summary>
/// A newest segment that is replaced by an older copy of it. Each frame of the copy is undamaged and in its place, so
/// only a file outside the segment shows that writes are missing: "newest", which these tests call the note.
/// </summary>
public sealed class OlderCopyTests
{
    private readonly SimulatedDisk _disk = new("/data", Folder);

    [Theory]
    [InlineData(1, false)]
    [InlineData(3, false)]
    [InlineData(3, true)]
    public void A_newest_segment_that_is_older_than_the_clean_stop_is_damage(int lost, bool hasPeers)
    {
        var (path, older) = FillAndStop(kept: 2, lost);
        PutBack(path, older);
        AssertRefused(path, hasPeers);
    }

    [Fact]
    public void A_newest_segment_that_is_older_than_the_last_start_is_damage()
    {
        var (path, older) = FillAndStop(kept: 2, lost: 2);
        using (var journal = Open(_disk))
        {
            Append(journal, 1);
        }

        PutBack(path, older);
        AssertRefused(path, hasPeers: false);
    }

    /// <summary>Recovery of a stopped node only reads the journal, so a vote that is lost does not matter.</summary>
    [Fact]
    public void A_stopped_journal_reports_the_entries_that_an_older_copy_lacks()
    {
        var (path, older) = FillAndStop(kept: 2, lost: 3);
        PutBack(path, older);
        using var journal = StoppedJournal.Open(
            _disk,
            Options,
            new JournalKnowledge(ManifestIndex: 0, ManifestTerm: 0, HasPeers: true),
            new CountingRecorder()
        );
        Assert.Equal(TailVerdict.RepairFromPeers, journal.Recovery.Verdict);
        Assert.Equal(2, journal.Position.Index);
        Assert.Equal(5, journal.Recovery.MayHaveAcknowledged.Index);
        Assert.Contains("through index 5", journal.Recovery.Sentence, StringComparison.Ordinal);
    }

    [Fact]
    public void A_copy_of_the_newest_segment_from_the_clean_stop_is_accepted_after_a_start_without_writes()
    {
        FillAndStop(kept: 2, lost: 3);
        string path = FindNewest();
        byte[] stopped = _disk.ReadAll(path);
        Open(_disk).Dispose();
        PutBack(path, stopped);
        using var journal = Open(_disk);
        AssertHolds(journal, from: 1, through: 5);
    }

    /// <summary>
    /// A start with such a copy must continue the count of writes, or the next start would report writes as missing.
    /// </summary>
    [Fact]
    public void An_older_copy_is_accepted_if_the_manifest_has_all_entries_that_it_lacks()
    {
        using (var journal = Open(_disk))
        {
            Append(journal, 2);
            journal.StopCleanly();
        }

        byte[] older = _disk.ReadAll(FindNewest());
        using (var journal = Open(_disk))
        {
            journal.Write([
                new JournalFrame(
                    FrameType.Vote,
                    Index: 0,
                    Term: 0,
                    OperationsBefore: journal.OperationsBeforeNext,
                    OperationCount: 0,
                    Encode([1, 2, 3])
                ),
            ]);
            journal.StopCleanly();
        }

        PutBack(FindNewest(), older);
        using (var journal = Open(_disk, manifestIndex: 2))
        {
            Append(journal, 1);
            Assert.Equal(3, journal.LastIndex);
        }

        using var member = Open(_disk, manifestIndex: 2, hasPeers: true);
        Assert.Equal(3, member.LastIndex);
    }

    [Fact]
    public void A_damaged_clean_stop_loses_no_entry()
    {
        var (path, _) = FillAndStop(kept: 2, lost: 3);
        _disk.Rot(path, FindEnd(path) - BlockBytes + 20, mask: 1);
        using var journal = Open(_disk);
        AssertHolds(journal, from: 1, through: 5);
    }

    [Fact]
    public void A_damaged_last_entry_before_a_damaged_clean_stop_is_refused()
    {
        var (path, _) = FillAndStop(kept: 2, lost: 3);
        _disk.Rot(path, FindEnd(path) - BlockBytes + 20, mask: 1);
        _disk.Rot(path, FindEnd(path) - (2 * BlockBytes) + 20, mask: 1);
        AssertRefused(path, hasPeers: false);
    }

    [Fact]
    public void The_note_of_an_earlier_version_does_not_detect_an_older_copy()
    {
        var (path, older) = FillAndStop(kept: 2, lost: 3);
        // Earlier versions named only the segment, and wrote zeros after the first 40 bytes of the note's blocks.
        using (var note = _disk.Open($"{Folder}/newest", DiskOpen.ReadWrite))
        {
            for (int block = 0; block < 2; block++)
            {
                note.Write(new byte[20], (block * BlockBytes) + 40);
            }

            note.Sync();
        }

        PutBack(path, older);
        using var journal = Open(_disk);
        AssertHolds(journal, from: 1, through: 2);
    }

    private void AssertRefused(string path, bool hasPeers)
    {
        var refused = Assert.Throws<JournalDamagedException>(() => Open(_disk, hasPeers: hasPeers).Dispose());
        Assert.StartsWith(
            $"{path}, the journal's newest segment, is an older copy",
            refused.Message,
            StringComparison.Ordinal
        );
        Assert.Contains($"{Folder}/newest shows", refused.Message, StringComparison.Ordinal);
    }

    /// <summary>
    /// Writes entries and stops cleanly. Returns the newest segment, and its bytes as they were before the last
    /// <paramref name="lost"/> entries.
    /// </summary>
    private (string Path, byte[] Older) FillAndStop(int kept, int lost)
    {
        using var journal = Open(_disk);
        Append(journal, kept);
        byte[] older = _disk.ReadAll(FindNewest());
        Append(journal, lost);
        journal.StopCleanly();
        return (FindNewest(), older);
    }

    // The newest segment has the highest number, because these tests recycle none.
    private string FindNewest() => _disk.Files.Last(static path => path.EndsWith(".segment", StringComparison.Ordinal));

    // The end of the last block that is not empty, in bytes: the block of the clean stop.
    private long FindEnd(string path)
    {
        byte[] bytes = _disk.ReadAll(path);
        return (Array.FindLastIndex(bytes, static value => value != 0) + BlockBytes) / BlockBytes * BlockBytes;
    }

    /// <summary>Overwrites a segment with an older copy.</summary>
    private void PutBack(string path, byte[] bytes)
    {
        using var file = _disk.Open(path, DiskOpen.ReadWrite);
        file.Write(bytes, offset: 0);
        file.Sync();
    }
}
