using Rookery.Platform;
using Rookery.Simulation;
using static Rookery.Journal.Tests.TestJournal;

namespace Rookery.Journal.Tests;

/// <summary>
/// The journal: its writes, its readers and its segments. A spare is a segment's file that is prepared before it is
/// needed; a released segment is recycled as a spare.
/// </summary>
public sealed class NodeJournalTests
{
    private readonly SimulatedDisk _disk = new("/data");

    [Fact]
    public void A_new_journal_is_empty_and_reports_it()
    {
        using var journal = Open(_disk);
        Assert.Equal(TailVerdict.BeginNew, journal.Recovery.Verdict);
        Assert.Equal((1, 0), (journal.FirstIndex, journal.LastIndex));
        Assert.Equal((0, 0), (journal.LastTerm, journal.OperationsBeforeNext));
        Assert.Empty(ReadAll(journal));
    }

    [Fact]
    public void Written_entries_are_read_back_in_order_from_any_index()
    {
        using var journal = Open(_disk);
        Append(journal, 100);
        Assert.Equal((100, 200), (journal.LastIndex, journal.OperationsBeforeNext));
        AssertHolds(journal, from: 1, through: 100);
        AssertHolds(journal, from: 37, through: 100);
        AssertHolds(journal, from: 101, through: 100);
    }

    [Fact]
    public void A_small_entry_costs_one_block_and_one_sync()
    {
        var io = new CountingRecorder();
        using var journal = Open(_disk, io: io);
        journal.Write([Next(journal)]);
        var (calls, writes, syncs, bytes) = (_disk.CallCount(DiskCalls.All), io.Writes, io.Syncs, io.Bytes);
        journal.Write([Next(journal)]);
        Assert.Equal(2, _disk.CallCount(DiskCalls.All) - calls);
        Assert.Equal((1, 1, 4096L), (io.Writes - writes, io.Syncs - syncs, io.Bytes - bytes));
    }

    [Fact]
    public void A_write_into_a_ready_spare_costs_no_extra_calls()
    {
        using var journal = Open(_disk);
        Assert.True(journal.PrepareSpare());
        Assert.False(journal.PrepareSpare());
        long before = _disk.CallCount(DiskCalls.All);
        Append(journal, 10);
        Assert.Equal(2 * SegmentBytes, journal.LiveBytes);
        Assert.Equal(10 * 2, _disk.CallCount(DiskCalls.All) - before); // a write and a sync for each entry
    }

    [Fact]
    public void Zeros_of_a_new_segment_are_recorded_separately_from_frames()
    {
        var io = new CountingRecorder();
        using var journal = Open(_disk, io: io); // begins a segment without a spare
        Assert.Equal(SegmentBytes, io.ZeroBytes);
        Assert.True(journal.PrepareSpare());
        Assert.Equal(2 * SegmentBytes, io.ZeroBytes);
        Assert.Equal((1, 1), (io.Writes, io.Syncs));
    }

    [Fact]
    public void A_batch_of_frames_is_one_write()
    {
        var io = new CountingRecorder();
        using var journal = Open(_disk, io: io);
        int writes = io.Writes;
        journal.Write([Next(journal), Next(journal, ahead: 1), Next(journal, ahead: 2)]);
        Assert.Equal(1, io.Writes - writes);
        AssertHolds(journal, from: 1, through: 3);
    }

    [Fact]
    public void Released_segments_are_recycled_and_the_directory_does_not_grow()
    {
        using var journal = Open(_disk);
        for (int i = 0; i < 500; i++)
        {
            Append(journal, 1);
            journal.ReleaseThrough(journal.LastIndex - 5);
        }

        Assert.InRange(_disk.Files.Count, 2, 5);
        Assert.True(journal.FirstIndex > 480);
        AssertHolds(journal, journal.FirstIndex, through: 500);
    }

    [Fact]
    public void An_oversized_write_gets_its_own_segment_which_is_deleted_after_its_release()
    {
        using var journal = Open(_disk);
        Append(journal, 2);
        int files = _disk.Files.Count;
        journal.Write([Next(journal, length: 3_000_000)]);
        Assert.Equal(files + 1, _disk.Files.Count);
        journal.Write([Next(journal)]);
        Assert.Equal(PayloadOf(3, variant: 0, length: 3_000_000), ReadAll(journal, 3)[0].Payload.ToArray());
        journal.ReleaseThrough(3);
        Assert.Equal(SegmentBytes, journal.LiveBytes);
        Assert.InRange(_disk.UsedBytes, 0, 4 * SegmentBytes);
    }

    [Fact]
    public void A_large_write_is_split_into_pieces_of_one_mebibyte()
    {
        var io = new CountingRecorder();
        using var journal = Open(_disk, io: io);
        var (writes, syncs) = (io.Writes, io.Syncs);
        journal.Write([Next(journal, length: 3_000_000)]);
        Assert.Equal((3, 1), (io.Writes - writes, io.Syncs - syncs));
    }

    [Fact]
    public void Segments_of_an_open_reader_are_not_recycled()
    {
        using var journal = Open(_disk);
        Append(journal, 50);
        using (var reader = journal.Read(1))
        {
            journal.ReleaseThrough(40);
            Append(journal, 50);
            for (long index = 1; index <= 50; index++)
            {
                Assert.True(reader.Next(out var frame));
                Assert.Equal(PayloadOf(index, variant: 0, length: PayloadBytes), frame.Payload.ToArray());
            }

            Assert.False(reader.Next(out _));
        }

        Assert.True(
            journal.LiveBytes > journal.BytesAbove(40) + (4 * SegmentBytes),
            "segments that only a reader keeps do not count"
        );
        Assert.Equal(journal.LiveBytes, journal.BytesAbove(0));
        journal.ReleaseThrough(40);
        Assert.True(journal.FirstIndex > 20);
        Assert.Equal(journal.LiveBytes, journal.BytesAbove(40));
    }

    /// <summary>A release removes items from the list of segments while a write reads the list's end.</summary>
    [Fact]
    public async Task Segments_are_released_on_another_thread_while_frames_are_written()
    {
        const int released = 1500;
        var options = new JournalOptions
        {
            Directory = Folder,
            SegmentBytes = 2 * BlockBytes,
            RecycledSegments = 3,
        };
        for (int round = 0; round < 4; round++)
        {
            var disk = new SimulatedDisk("/data");
            long lastIndex;
            using (var journal = NodeJournal.Open(disk, options, knowledge: default, new CountingRecorder()))
            {
                Append(journal, released); // one frame a segment, so the list is long
                var releasing = Task.Run(() =>
                {
                    for (long index = 1; index < released; index++)
                    {
                        journal.ReleaseThrough(index);
                    }
                });
                for (int i = 0; i < released && !releasing.IsCompleted; i++)
                {
                    // The number of writes is limited, because a writer that is faster than the other thread would
                    // make the list grow without end.
                    Append(journal, 1);
                }

                await releasing;
                lastIndex = journal.LastIndex;
            }

            using var again = NodeJournal.Open(
                disk,
                options,
                new JournalKnowledge(ManifestIndex: released - 1, ManifestTerm: 1, HasPeers: false),
                new CountingRecorder()
            );
            Assert.Equal(lastIndex, again.LastIndex);
            AssertHolds(again, released, lastIndex);
        }
    }

    [Fact]
    public void The_last_segment_is_kept_even_after_its_release()
    {
        using (var journal = Open(_disk))
        {
            Append(journal, 3);
            journal.ReleaseThrough(3);
        }

        using var again = Open(_disk, manifestIndex: 3);
        Assert.Equal((3, 6), (again.LastIndex, again.OperationsBeforeNext));
    }

    [Fact]
    public void PinAbove_keeps_entries_until_the_pin_is_disposed()
    {
        using var journal = Open(_disk);
        Append(journal, 40);
        var pin = journal.PinAbove(20);
        journal.ReleaseThrough(40);
        Assert.InRange(journal.FirstIndex, 2, 21);
        pin.Dispose();
        journal.ReleaseThrough(40);
        Assert.True(journal.FirstIndex > 21);
    }

    [Fact]
    public void Entries_are_released_after_their_pin_ends_without_another_request()
    {
        using var journal = Open(_disk);
        Append(journal, 40);
        var pin = journal.PinAbove(20);
        journal.ReleaseThrough(40);
        pin.Dispose();
        journal.PrepareSpare();
        Assert.True(journal.FirstIndex > 21);
    }

    [Fact]
    public void After_a_clean_stop_the_log_continues_in_the_same_segment()
    {
        using (var journal = Open(_disk))
        {
            Append(journal, 2);
            journal.StopCleanly();
            journal.StopCleanly();
        }

        using var again = Open(_disk);
        Assert.Equal((TailVerdict.ContinueAfterCleanStop, 'S'), (again.Recovery.Verdict, again.Recovery.Label));
        Append(again, 2);
        Assert.Equal(SegmentBytes, again.LiveBytes);
        AssertHolds(again, from: 1, through: 4);
    }

    [Fact]
    public void After_a_crash_the_log_continues_in_a_fresh_segment_and_idle_restarts_reuse_it()
    {
        Append(Open(_disk), 2);
        for (int i = 0; i < 10; i++)
        {
            _disk.KillProcess();
            Assert.Equal(TailVerdict.TruncateTornTail, Open(_disk).Recovery.Verdict);
        }

        _disk.KillProcess();
        using var journal = Open(_disk);
        Assert.Equal(2 * SegmentBytes, journal.LiveBytes);
        AssertHolds(journal, from: 1, through: 2);
    }

    [Fact]
    public void A_journal_can_start_after_a_restored_backup()
    {
        NodeJournal.Create(
            _disk,
            Options,
            new JournalPosition(Index: 70, Term: 3, Operations: 700),
            new CountingRecorder()
        );
        using (
            var journal = NodeJournal.Open(
                _disk,
                Options,
                new JournalKnowledge(ManifestIndex: 70, ManifestTerm: 3, HasPeers: false),
                new CountingRecorder()
            )
        )
        {
            Assert.Equal(
                (71, 70, 3, 700),
                (journal.FirstIndex, journal.LastIndex, journal.LastTerm, journal.OperationsBeforeNext)
            );
        }

        var refusal = Assert.Throws<DiskException>(() =>
            NodeJournal.Create(_disk, Options, start: default, new CountingRecorder())
        );
        Assert.Equal(Errno.NotEmpty, refusal.Error);
    }

    [Fact]
    public void Two_processes_cannot_open_one_journal()
    {
        using var journal = Open(_disk);
        Assert.Equal(Errno.WouldBlock, Assert.Throws<DiskException>(() => Open(_disk)).Error);
    }

    [Fact]
    public void Frames_out_of_order_are_refused_before_any_write()
    {
        using var journal = Open(_disk);
        int operations = _disk.OperationCount;
        var frame = Next(journal);
        Assert.Throws<InvariantViolationException>(() => journal.Write([frame with { Index = 2 }]));
        Assert.Throws<InvariantViolationException>(() => journal.Write([frame with { OperationsBefore = 1 }]));
        Assert.Throws<InvariantViolationException>(() => journal.Write([frame with { Payload = new byte[20] }]));
        Assert.Throws<InvariantViolationException>(() => journal.Write([frame with { Type = FrameType.CleanStop }]));
        Assert.Throws<InvariantViolationException>(() => journal.Write([]));
        Assert.Equal(operations, _disk.OperationCount);
        journal.Write([frame]);
        Assert.Throws<InvariantViolationException>(() => journal.Write([Next(journal, term: 0)]));
    }
}
