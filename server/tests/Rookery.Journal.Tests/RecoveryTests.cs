using Rookery.Platform;
using Rookery.Simulation;
using static Rookery.Journal.Tests.TestJournal;

namespace Rookery.Journal.Tests;

/// <summary>
/// Starts with a damaged or incomplete journal. The cases A to D are those of docs/explanation/durability.md. Frames
/// are at the blocks of the first segment, so entry 3 is at block 3.
/// </summary>
public sealed class RecoveryTests
{
    // The file that names the newest segment, so that its loss is detected. These tests call it the note. Its two
    // blocks are written in turn.
    private const string Note = Folder + "/newest";

    // The offset of the generation of the newest segment in a block of that file, in bytes.
    private const int NoteGenerationOffset = 16;

    private const string First = Folder + "/journal-00000001.segment";
    private const string Second = Folder + "/journal-00000002.segment";

    private readonly SimulatedDisk _disk = new("/data");

    [Fact]
    public void Case_A_a_torn_tail_is_truncated()
    {
        Fill(frames: 5);
        _disk.Rot(First, (5 * BlockBytes) + 100, mask: 1);
        using var journal = Open(_disk);
        Assert.Equal(
            (TailVerdict.TruncateTornTail, 'A', 4L),
            (journal.Recovery.Verdict, journal.Recovery.Label, journal.LastIndex)
        );
        Assert.Equal(
            $"{First} ends at offset 20480, index 4; the node had not stopped cleanly, and no later "
                + $"write had been acknowledged.",
            journal.Recovery.Sentence
        );
        Assert.Equal(new EntryPosition(Term: 1, Index: 4), journal.Recovery.MayHaveAcknowledged);
    }

    [Fact]
    public void Case_B_a_damaged_middle_is_kept_aside_and_repaired_by_peers()
    {
        Fill(frames: 20);
        _disk.Rot(First, (3 * BlockBytes) + 100, mask: 1);
        using (var journal = Open(_disk, hasPeers: true))
        {
            Assert.Equal(
                (TailVerdict.RepairFromPeers, 'B', 2L),
                (journal.Recovery.Verdict, journal.Recovery.Label, journal.LastIndex)
            );
            Assert.Equal(new EntryPosition(Term: 1, Index: 20), journal.Recovery.MayHaveAcknowledged);
            Assert.Equal("journal-00000001.segment.aside-1", journal.Recovery.KeptAside[0]);
            Append(journal, 20);
            journal.ReleaseThrough(15);
            AssertHolds(journal, journal.FirstIndex, through: 22);
        }

        byte[] aside = _disk.ReadAll(First + ".aside-1");
        Assert.True(FrameHeader.TryRead(aside.AsSpan(BlockBytes * 7), out var header));
        Assert.Equal(7, header.Index);
    }

    [Fact]
    public void Case_C_a_damaged_middle_stops_a_single_node_and_changes_nothing()
    {
        Fill(frames: 5);
        _disk.Rot(First, (3 * BlockBytes) + 100, mask: 1);
        int operations = _disk.OperationCount;
        var damage = Assert.Throws<JournalDamagedException>(() => Open(_disk));
        Assert.Equal(
            $"{First} is damaged at offset 12288, in a part that had been made durable: entries 3 to at "
                + $"least 5 would be lost. Nothing was changed. Put back an undamaged copy of the file, or restore "
                + $"a backup.",
            damage.Message
        );
        Assert.InRange(_disk.OperationCount - operations, 0, 2); // only syncs of the directory
        _disk.Rot(First, (3 * BlockBytes) + 100, mask: 1);
        using var healed = Open(_disk);
        AssertHolds(healed, from: 1, through: 5);
    }

    [Fact]
    public void Case_D_damage_below_the_manifest_loses_nothing()
    {
        Fill(frames: 6);
        _disk.Rot(First, (3 * BlockBytes) + 100, mask: 1);
        using var journal = Open(_disk, manifestIndex: 3);
        Assert.Equal(
            (TailVerdict.SkipAppliedGap, 'D', 4L, 6L),
            (journal.Recovery.Verdict, journal.Recovery.Label, journal.FirstIndex, journal.LastIndex)
        );
        AssertHolds(journal, from: 4, through: 6);
        Assert.Equal(12, journal.OperationsBeforeNext);
    }

    [Fact]
    public void A_damaged_last_entry_that_the_manifest_has_is_damage_not_a_torn_tail()
    {
        Fill(frames: 5);
        _disk.Rot(First, (5 * BlockBytes) + 100, mask: 1);
        Assert.Contains(
            "entries from 6 on",
            Assert.Throws<JournalDamagedException>(() => Open(_disk, manifestIndex: 5)).Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_damaged_last_entry_before_a_clean_stop_is_damage_not_a_torn_tail()
    {
        Fill(frames: 5, stopsCleanly: true);
        _disk.Rot(First, (5 * BlockBytes) + 100, mask: 1);
        Assert.Throws<JournalDamagedException>(() => Open(_disk));
    }

    [Fact]
    public void A_missing_journal_is_not_replaced_by_a_new_one()
    {
        string message = Assert.Throws<JournalDamagedException>(() => Open(_disk, manifestIndex: 12)).Message;
        Assert.Contains("was the journal directory changed?", message, StringComparison.Ordinal);
        Assert.DoesNotContain(_disk.Files, IsSegment);
    }

    [Theory]
    [InlineData(First)]
    [InlineData(Second)]
    public void A_missing_segment_is_reported_by_name(string missing)
    {
        Fill(frames: 20);
        _disk.Delete(missing);
        Assert.Contains(
            "is missing",
            Assert.Throws<JournalDamagedException>(() => Open(_disk)).Message,
            StringComparison.Ordinal
        );
        using var journal = Open(_disk, manifestIndex: 15);
        AssertHolds(journal, journal.FirstIndex, through: 20);
    }

    [Fact]
    public void A_shortened_segment_file_is_damage_not_a_torn_tail()
    {
        Fill(frames: 5);
        using (var file = _disk.Open(First, DiskOpen.ReadWrite))
        {
            file.SetLength(5 * BlockBytes);
        }

        Assert.Throws<JournalDamagedException>(() => Open(_disk));
    }

    [Fact]
    public void A_newest_segment_with_a_damaged_header_and_two_writes_is_damage()
    {
        Fill(frames: 9);
        _disk.Rot(Second, offset: 30, mask: 1);
        Assert.Throws<JournalDamagedException>(() => Open(_disk));
    }

    /// <summary>
    /// Each start after a kill begins a segment. The earlier segments do not show that the new one exists.
    /// </summary>
    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    public void A_missing_newest_segment_is_damage_not_a_torn_tail(bool hasPeers, bool isLeftEmpty)
    {
        StartAndKill(times: 2);
        string newest = Folder + "/journal-00000002.segment";
        _disk.Delete(newest);
        if (isLeftEmpty)
        {
            _disk.Open(newest, DiskOpen.CreateNew).Dispose();
        }

        var damaged = Assert.Throws<JournalDamagedException>(() => Open(_disk, hasPeers: hasPeers));
        Assert.Contains("newest segment is missing from " + Folder, damaged.Message, StringComparison.Ordinal);
    }

    /// <summary>
    /// The file "newest" detects a missing segment. It must not prevent an intact journal from opening.
    /// </summary>
    [Theory]
    [InlineData(DiskCalls.Open)]
    [InlineData(DiskCalls.Read)]
    public void An_unreadable_note_is_reported_and_rewritten(DiskCalls failing)
    {
        StartAndKill(times: 3);
        _disk.Inject(new DiskFault(AtCall: 1, Errno.InputOutput) { Calls = failing, PathContains = Note });
        using (var journal = Open(_disk))
        {
            AssertHolds(journal, from: 1, through: 9);
            Assert.Contains(Note, journal.Recovery.Sentence, StringComparison.Ordinal);
            Append(journal, 3);
        }

        using (var journal = Open(_disk))
        {
            Assert.DoesNotContain(Note, journal.Recovery.Sentence, StringComparison.Ordinal);
        }

        _disk.Delete(ListSegments()[^1]);
        Assert.Throws<JournalDamagedException>(() => Open(_disk));
    }

    /// <summary>
    /// The two blocks are written alternately, so one more start moves the newest to the other block.
    /// </summary>
    [Theory]
    [InlineData(3)]
    [InlineData(4)]
    public void An_unreadable_block_of_the_note_does_not_hide_the_other(int starts)
    {
        StartAndKill(times: starts);
        byte[] noteBytes = _disk.ReadAll(Note);
        bool isSecondNewer =
            BitConverter.ToInt64(noteBytes, BlockBytes + NoteGenerationOffset)
            > BitConverter.ToInt64(noteBytes, NoteGenerationOffset);
        _disk.Delete(ListSegments()[^1]);
        _disk.Inject(new DiskFault(AtCall: 1, Errno.InputOutput) { Calls = DiskCalls.Read, PathContains = Note });
        if (isSecondNewer)
        {
            Assert.Throws<JournalDamagedException>(() => Open(_disk));
            return;
        }

        using var journal = Open(_disk);
        Assert.Contains(Note, journal.Recovery.Sentence, StringComparison.Ordinal);
    }

    [Fact]
    public void A_start_replaces_an_unreadable_block_of_the_note_even_without_a_new_segment()
    {
        StartAndKill(times: 3);
        Fill(frames: 1, stopsCleanly: true);
        _disk.Inject(new DiskFault(AtCall: 1, Errno.InputOutput) { Calls = DiskCalls.Read, PathContains = Note });
        int segments = ListSegments().Count;
        Open(_disk).Dispose();
        byte[] noteBytes = _disk.ReadAll(Note);
        long[] generations =
        [
            BitConverter.ToInt64(noteBytes, NoteGenerationOffset),
            noteBytes.Length > BlockBytes ? BitConverter.ToInt64(noteBytes, BlockBytes + NoteGenerationOffset) : 0,
        ];
        Assert.Contains(0, generations); // the replaced block
        Assert.Equal(segments, ListSegments().Count);
    }

    [Fact]
    public void A_power_cut_while_the_note_is_replaced_leaves_a_valid_note()
    {
        StartAndKill(times: 3);
        Fill(frames: 1, stopsCleanly: true);
        _disk.Inject(new DiskFault(AtCall: 1, Errno.InputOutput) { Calls = DiskCalls.Read, PathContains = Note });
        int before = _disk.OperationCount;
        Open(_disk).Dispose();
        Assert.True(_disk.OperationCount > before);
        for (int operation = before; operation <= _disk.OperationCount; operation++)
        {
            for (int seed = 0; seed < 8; seed++)
            {
                var image = _disk.CrashAt(operation, seed);
                image.Delete(image.Files.Last(IsSegment));
                Assert.Throws<JournalDamagedException>(() => Open(image));
                AssertStartLeavesNoPart(_disk.CrashAt(operation, seed));
            }
        }

        static void AssertStartLeavesNoPart(SimulatedDisk image)
        {
            Open(image).Dispose();
            Assert.DoesNotContain(image.Files, static path => path.EndsWith(".part", StringComparison.Ordinal));
        }
    }

    /// <summary>
    /// An older program without the file "newest" replaces the journal and leaves the file unchanged.
    /// </summary>
    [Fact]
    public void The_note_of_another_store_is_ignored()
    {
        StartAndKill(times: 5);
        byte[] noteBytes = _disk.ReadAll(Note);
        Array.ForEach([.. ListSegments(), Note], _disk.Delete);
        var options = new JournalOptions
        {
            Directory = Folder,
            SegmentBytes = SegmentBytes,
            StoreId = new Guid(7, 8, 9, new byte[8]),
        };
        using (var journal = NodeJournal.Open(_disk, options, knowledge: default, new CountingRecorder()))
        {
            Append(journal, 3);
        }

        _disk.Delete(Note);
        _disk.WriteNew(Note, noteBytes);
        for (int start = 0; start < 2; start++)
        {
            using var journal = NodeJournal.Open(_disk, options, knowledge: default, new CountingRecorder());
            AssertHolds(journal, from: 1, 3 * (start + 1));
            Append(journal, 3);
        }

        // Now the file names this journal.
        _disk.Delete(ListSegments()[^1]);
        Assert.Throws<JournalDamagedException>(() =>
            NodeJournal.Open(_disk, options, knowledge: default, new CountingRecorder())
        );
    }

    [Fact]
    public void A_note_whose_directory_sync_failed_is_synced_later()
    {
        using (var journal = Open(_disk))
        {
            Append(journal, 3);
            while (journal.PrepareSpare())
            {
                // Makes all spare segments now, so that none syncs the directory later.
            }

            journal.StopCleanly();
        }

        _disk.Delete(Note);
        _disk.SyncDirectory(Folder);
        int opened = 0;
        for (int call = 2; call < 10; call++)
        {
            var image = _disk.AfterPowerLoss(call);
            image.Inject(
                new DiskFault(call, Errno.InputOutput) { Calls = DiskCalls.SyncDirectory, PathContains = Folder }
            );
            try
            {
                using var journal = Open(image);
                opened++;
                journal.PrepareSpare();
            }
            catch (DiskException)
            {
                continue; // Another sync failed, and with it the start.
            }

            image.KillProcess();
            Assert.All(Enumerable.Range(1, 20), seed => Assert.True(image.AfterPowerLoss(seed).Exists(Note)));
        }

        Assert.NotEqual(0, opened);
    }

    [Fact]
    public void A_journal_that_lost_all_segments_is_not_replaced_by_a_new_one()
    {
        var damaged = Assert.Throws<JournalDamagedException>(() =>
            NodeJournal.Open(
                _disk,
                Options,
                new JournalKnowledge(ManifestIndex: 0, ManifestTerm: 0, HasPeers: false) { ExistedBefore = true },
                new CountingRecorder()
            )
        );
        Assert.Contains("the manifest holds nothing yet", damaged.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Foreign_files_are_renamed_or_left_unchanged()
    {
        Fill(frames: 3);
        _disk.WriteNew($"{Folder}/journal-00000007.segment", []);
        _disk.WriteNew($"{Folder}/journal-00000008.segment", [.. Enumerable.Repeat((byte)7, 5000)]);
        _disk.WriteNew($"{Folder}/journal-00000009.segment", _disk.ReadAll(First));
        _disk.WriteNew($"{Folder}/journal-00000010.segment.part", [1, 2, 3]);
        _disk.WriteNew($"{Folder}/notes.txt", [1, 2, 3]);
        using var journal = Open(_disk);
        Assert.Equal(
            [
                "journal-00000007.segment.aside-1",
                "journal-00000008.segment.aside-1",
                "journal-00000009.segment.aside-1",
            ],
            journal.Recovery.KeptAside
        );
        Assert.False(_disk.Exists($"{Folder}/journal-00000010.segment.part"));
        Assert.True(_disk.Exists($"{Folder}/notes.txt"));
        AssertHolds(journal, from: 1, through: 3);
    }

    [Fact]
    public void Segments_of_two_stores_are_refused()
    {
        Fill(frames: 3);
        var other = new SimulatedDisk("/data");
        var options = new JournalOptions { Directory = Folder, SegmentBytes = SegmentBytes };
        using (var journal = NodeJournal.Open(other, options, knowledge: default, new CountingRecorder()))
        {
            Append(journal, 9);
        }

        _disk.WriteNew(Second, other.ReadAll(Second));
        Assert.Contains(
            "another store",
            Assert.Throws<JournalFormatException>(() => Open(_disk)).Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_newer_segment_format_is_refused()
    {
        Fill(frames: 3);
        Patch(
            First,
            offset: 0,
            SegmentHeader.Bytes,
            static block =>
            {
                const int VersionOffset = 8;
                const int ChecksumOffset = BlockBytes - 4;
                block[VersionOffset] = SegmentHeader.FormatVersion + 1;
                System.Buffers.Binary.BinaryPrimitives.WriteUInt32LittleEndian(
                    block.AsSpan(ChecksumOffset),
                    Checksum.Of(block.AsSpan(0, ChecksumOffset))
                );
            }
        );
        Assert.Contains(
            "format version 3",
            Assert.Throws<JournalFormatException>(() => Open(_disk)).Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void An_unknown_frame_type_is_refused_and_not_skipped()
    {
        Fill(frames: 3);
        Patch(
            First,
            3 * BlockBytes,
            FrameHeader.Bytes,
            static bytes =>
            {
                Assert.True(FrameHeader.TryRead(bytes, out var header));
                (header with { Type = (FrameType)99 }).WriteTo(bytes);
            }
        );
        Assert.Contains(
            "of type 99",
            Assert.Throws<JournalFormatException>(() => Open(_disk)).Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void Old_segments_are_read_after_the_segment_size_changed()
    {
        Fill(frames: 20);
        var options = new JournalOptions { Directory = Folder, SegmentBytes = 2 * SegmentBytes };
        using var journal = NodeJournal.Open(_disk, options, knowledge: default, new CountingRecorder());
        Append(journal, 20);
        AssertHolds(journal, from: 1, through: 40);
    }

    [Fact]
    public void Stale_frames_of_a_recycled_segment_are_never_read_again()
    {
        // Each round leaves a recycled segment with new frames, followed by frames of its previous use.
        using (var journal = Open(_disk))
        {
            for (int i = 0; i < 60; i++)
            {
                Append(journal, 1);
                journal.ReleaseThrough(journal.LastIndex - 1);
            }
        }

        for (int restart = 0; restart < 3; restart++)
        {
            using var again = Open(_disk, manifestIndex: 59 + restart);
            Assert.Equal(60 + restart, again.LastIndex);
            Append(again, 1);
        }
    }

    private List<string> ListSegments() => [.. _disk.Files.Where(IsSegment)];

    /// <summary>Starts, writes three entries and is killed: each start after a kill begins a segment.</summary>
    private void StartAndKill(int times)
    {
        for (int start = 0; start < times; start++)
        {
            using var journal = Open(_disk);
            Append(journal, 3);
        }
    }

    private static bool IsSegment(string path) => path.EndsWith(".segment", StringComparison.Ordinal);

    /// <summary>Writes entries to a new or existing journal, and kills the process.</summary>
    private void Fill(int frames, bool stopsCleanly = false)
    {
        var journal = Open(_disk);
        Append(journal, frames);
        if (stopsCleanly)
        {
            journal.StopCleanly();
        }

        _disk.KillProcess();
    }

    /// <summary>Changes some bytes of a file.</summary>
    private void Patch(string path, long offset, int length, Action<byte[]> change)
    {
        using var file = _disk.Open(path, DiskOpen.ReadWrite);
        byte[] bytes = new byte[length];
        Assert.Equal(length, file.Read(bytes, offset));
        change(bytes);
        file.Write(bytes, offset);
        file.Sync();
    }
}
