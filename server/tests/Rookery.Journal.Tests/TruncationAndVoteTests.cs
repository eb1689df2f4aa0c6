using Rookery.Simulation;
using static Rookery.Journal.Tests.TestJournal;

namespace Rookery.Journal.Tests;

/// <summary>
/// Truncations, votes, configurations and commit frames. The journal writes a vote twice, and repeats votes and
/// configurations in the headers of segments.
/// </summary>
public sealed class TruncationAndVoteTests
{
    private readonly SimulatedDisk _disk = new("/data");

    /// <summary>
    /// Index 4 is written, truncated, and written again with the same term. However the journal is read, it returns
    /// only the last one.
    /// </summary>
    [Fact]
    public void A_truncated_suffix_is_never_read_again()
    {
        var journal = Open(_disk);
        Append(journal, 6);
        journal.Write([TruncateAfter(3), Replacement(4, variant: 1, operationsBefore: 6)]);
        Assert.Equal((4, 7), (journal.LastIndex, journal.OperationsBeforeNext));
        journal.Write([
            TruncateAfter(3),
            Replacement(4, variant: 2, operationsBefore: 6),
            Replacement(5, variant: 2, operationsBefore: 7),
        ]);

        Check(journal);
        _disk.KillProcess();
        for (int i = 0; i < 3; i++)
        {
            journal = Open(_disk);
            Check(journal);
            _disk.KillProcess();
        }

        static void Check(NodeJournal journal)
        {
            byte[][] expected =
            [
                PayloadOf(1, variant: 0, length: PayloadBytes),
                PayloadOf(2, variant: 0, length: PayloadBytes),
                PayloadOf(3, variant: 0, length: PayloadBytes),
                PayloadOf(4, variant: 2, length: PayloadBytes),
                PayloadOf(5, variant: 2, length: PayloadBytes),
            ];
            Assert.Equal(expected, ReadAll(journal).Select(static frame => frame.Payload.ToArray()));
            Assert.Equal(
                PayloadOf(5, variant: 2, length: PayloadBytes),
                ReadAll(journal, 5).Single().Payload.ToArray()
            );
            Assert.Equal((5, 8), (journal.LastIndex, journal.OperationsBeforeNext));
        }
    }

    [Fact]
    public void A_truncation_may_span_segments_and_older_segments_can_be_released_afterwards()
    {
        var journal = Open(_disk);
        Append(journal, 30);
        journal.Write([TruncateAfter(5), Replacement(6, variant: 1, operationsBefore: 10)]);
        Assert.Equal([6L], ReadAll(journal, 6).Select(static frame => frame.Index));
        long operations = journal.OperationsBeforeNext;
        for (int i = 7; i <= 40; i++)
        {
            journal.Write([Replacement(i, variant: 1, operations++)]);
        }

        journal.ReleaseThrough(38);
        _disk.KillProcess();
        using var again = Open(_disk, manifestIndex: 38);
        Assert.Equal([39L, 40L], ReadAll(again, 39).Select(static frame => frame.Index));
    }

    [Fact]
    public void A_commit_frame_is_read_back_and_its_index_never_exceeds_the_log()
    {
        var journal = Open(_disk);
        Assert.Equal(0, journal.CommittedIndex);
        Append(journal, 3);
        journal.Write([Next(journal), NodeJournal.MakeCommitFrame(3)]);
        journal.Write([Next(journal), NodeJournal.MakeCommitFrame(5)]);
        Assert.Equal((5, 5), (journal.CommittedIndex, journal.LastIndex));
        for (int operation = 0; operation <= _disk.OperationCount; operation++)
        {
            for (int seed = 0; seed < 4; seed++)
            {
                // A torn write may keep its entry and lose its commit frame.
                using var again = Open(_disk.CrashAt(operation, seed));
                long[] known = again.LastIndex switch
                {
                    < 4 => [0],
                    4 => [0, 3],
                    _ => operation < _disk.OperationCount ? [3, 5] : [5],
                };
                Assert.Contains(again.CommittedIndex, known);
            }
        }
    }

    [Fact]
    public void A_commit_frame_is_written_only_into_the_padding_of_a_block()
    {
        Assert.False(NodeJournal.HasRoomForCommitFrame([]));
        Assert.False(
            NodeJournal.HasRoomForCommitFrame([
                new JournalFrame(
                    FrameType.Vote,
                    Index: 0,
                    Term: 1,
                    OperationsBefore: 0,
                    OperationCount: 0,
                    Encode([1])
                ),
            ])
        );
        var journal = Open(_disk);
        const int HeaderBytes = 64; // of the entry's frame, and of the commit frame
        int encodingBytes = Next(journal, 1000).Payload.Length - 1000;
        int largest = BlockBytes - (2 * HeaderBytes) - encodingBytes;
        Assert.True(NodeJournal.HasRoomForCommitFrame([Next(journal, largest)]));
        Assert.False(NodeJournal.HasRoomForCommitFrame([Next(journal, largest + 1)]));
        Assert.False(NodeJournal.HasRoomForCommitFrame([Next(journal, largest + HeaderBytes)]));

        // The entry takes a further block, in which the commit frame has room.
        Assert.True(NodeJournal.HasRoomForCommitFrame([Next(journal, largest + HeaderBytes + 1)]));
    }

    [Fact]
    public void The_vote_and_the_configuration_survive_the_release_of_their_segments()
    {
        var journal = Open(_disk);
        byte[] vote = Encode([1, 2, 3]);
        byte[] configuration = Encode([4, 5, 6]);
        journal.Write([
            CreateVote(journal, vote),
            Next(journal) with
            {
                Type = FrameType.Configuration,
                Payload = configuration,
            },
        ]);
        for (int i = 0; i < 60; i++)
        {
            Append(journal, 1);
            journal.ReleaseThrough(journal.LastIndex - 1);
        }

        long last = journal.LastIndex;
        Assert.True(journal.FirstIndex > 40);
        _disk.KillProcess();
        using var again = Open(_disk, manifestIndex: last - 1);
        Assert.Equal(vote, again.Vote.ToArray());
        Assert.Equal(configuration, again.Configuration.ToArray());
    }

    [Fact]
    public void Truncating_a_configuration_restores_the_previous_one()
    {
        var journal = Open(_disk);
        byte[] first = Encode([1]);
        journal.Write([Next(journal) with { Type = FrameType.Configuration, Payload = first }]);
        journal.Write([Next(journal) with { Type = FrameType.Configuration, Payload = Encode([2]) }]);
        journal.Write([TruncateAfter(1), Replacement(2, variant: 1, operationsBefore: 2)]);
        Assert.Equal(first, journal.Configuration.ToArray());
        _disk.KillProcess();
        using var again = Open(_disk);
        Assert.Equal(first, again.Configuration.ToArray());
    }

    /// <summary>
    /// A segment's header repeats a configuration that a truncation removes. The previous
    /// configuration must be in force again, even after the segments that contained it were released, and whether the
    /// truncation fits into the segment or begins the next.
    /// </summary>
    [Fact]
    public void A_truncated_configuration_stays_truncated_although_a_header_repeats_it()
    {
        byte[] first = Encode([1]);
        for (int after = 0; after < 45; after++)
        {
            var other = new SimulatedDisk("/data");
            var journal = Open(other);
            journal.Write([Next(journal) with { Type = FrameType.Configuration, Payload = first }]);
            Append(journal, 5);
            journal.Write([Next(journal) with { Type = FrameType.Configuration, Payload = Encode([2]) }]);
            Append(journal, after);
            journal.Write([TruncateAfter(4), Replacement(5, variant: 1, operationsBefore: 8)]);
            for (long manifest = 4; manifest < 60; manifest += 4)
            {
                using var again = Open(other.AfterPowerLoss((int)manifest), manifestIndex: manifest);
                // With the case in both, so that a failure names it.
                Assert.Equal((after, manifest, 1L), (after, manifest, again.ConfigurationAt(manifest).Index));
                Assert.Equal(
                    again.FirstIndex == 1 ? [] : first,
                    again.ConfigurationAt(again.Base.Index).Payload.ToArray()
                );
                Assert.Equal(journal.LastIndex, again.LastIndex);
                Append(journal, 4);
                journal.ReleaseThrough(manifest + 4);
            }

            Assert.Equal(first, journal.Configuration.ToArray());
        }
    }

    /// <summary>A node that lost its vote could vote twice. One damaged block must not lose the vote.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void A_vote_with_one_damaged_copy_is_read_from_the_other(int copy)
    {
        var journal = Open(_disk);
        Append(journal, 2);
        journal.Write([CreateVote(journal, Encode([9, 9]))]);
        Append(journal, 2);
        _disk.KillProcess();
        _disk.Rot($"{Folder}/journal-00000001.segment", ((3 + copy) * BlockBytes) + 70, mask: 4);
        using var again = Open(_disk);
        Assert.Equal(Encode([9, 9]), again.Vote.ToArray());
        AssertHolds(again, from: 1, through: 4);
    }

    [Fact]
    public void A_vote_with_two_damaged_copies_stops_the_node()
    {
        var journal = Open(_disk);
        Append(journal, 2);
        journal.Write([CreateVote(journal, Encode([9, 9]))]);
        Append(journal, 2);
        _disk.KillProcess();
        _disk.Rot($"{Folder}/journal-00000001.segment", (3 * BlockBytes) + 70, mask: 4);
        _disk.Rot($"{Folder}/journal-00000001.segment", (4 * BlockBytes) + 70, mask: 4);
        Assert.Throws<JournalDamagedException>(() => Open(_disk));
    }

    /// <summary>
    /// The vote and the start number are after the damage: in the same segment, or in a segment that is discarded with
    /// it.
    /// </summary>
    [Theory]
    [InlineData(1)]
    [InlineData(12)]
    public void A_vote_after_a_damaged_place_is_kept(int between)
    {
        var journal = Open(_disk);
        journal.Write([CreateVote(journal, Encode([1]))]);
        Append(journal, 2);
        Append(journal, between);
        journal.Write([CreateVote(journal, Encode([9, 9]))]);
        _disk.KillProcess();
        _disk.Rot($"{Folder}/journal-00000001.segment", (3 * BlockBytes) + 100, mask: 1);
        using var again = Open(_disk, hasPeers: true);
        Assert.Equal((TailVerdict.RepairFromPeers, 0L), (again.Recovery.Verdict, again.LastIndex));
        Assert.Equal(Encode([9, 9]), again.Vote.ToArray());
    }

    [Fact]
    public void A_vote_between_a_damaged_place_and_later_entries_is_kept()
    {
        var journal = Open(_disk);
        Append(journal, 2);
        journal.Write([CreateVote(journal, Encode([9, 9]))]);
        Append(journal, 2);
        _disk.KillProcess();
        _disk.Rot($"{Folder}/journal-00000001.segment", BlockBytes + 100, mask: 1);
        _disk.Rot($"{Folder}/journal-00000001.segment", (2 * BlockBytes) + 100, mask: 1);
        using var again = Open(_disk, manifestIndex: 2);
        Assert.Equal((TailVerdict.SkipAppliedGap, 4L), (again.Recovery.Verdict, again.LastIndex));
        Assert.Equal(Encode([9, 9]), again.Vote.ToArray());
    }

    private static JournalFrame CreateVote(NodeJournal journal, byte[] payload) =>
        new(
            FrameType.Vote,
            Index: 0,
            Term: 5,
            OperationsBefore: journal.OperationsBeforeNext,
            OperationCount: 0,
            payload
        );

    private static JournalFrame TruncateAfter(long index) =>
        new(FrameType.Truncation, Index: index, Term: 1, OperationsBefore: 2 * index, OperationCount: 0, default);

    /// <summary>Returns a frame of an entry of one operation that replaces a truncated one.</summary>
    private static JournalFrame Replacement(long index, int variant, long operationsBefore) =>
        new(
            FrameType.Batch,
            Index: index,
            Term: 1,
            OperationsBefore: operationsBefore,
            OperationCount: 1,
            PayloadOf(index, variant: variant, length: PayloadBytes)
        );
}
