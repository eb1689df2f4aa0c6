using Rookery.Simulation;
using static Rookery.Journal.Tests.TestJournal;

namespace Rookery.Journal.Tests;

/// <summary>
/// Resets of a journal to the index of an installed snapshot. The store's manifest has the number of the reset, called
/// its mark. If the journal lacks that mark at a start, the start resets the journal. <see cref="CrashTests"/> cuts the
/// power at every point of a reset.
/// </summary>
public sealed class JournalResetTests
{
    private readonly SimulatedDisk _disk = new("/data");

    [Fact]
    public void A_reset_keeps_the_vote_and_continues_after_the_snapshot()
    {
        var journal = Open(_disk);
        journal.Write([CreateVote(journal)]);
        Append(journal, 5);
        journal.ResetTo(ResetAt(mark: 3, index: 100));
        Check(journal, 100);
        journal.Write([Next(journal, term: 4)]);
        Check(journal, 101);

        for (int i = 0; i < 3; i++)
        {
            _disk.KillProcess();
            journal = Open(_disk, manifestIndex: 100, reset: ResetAt(mark: 3, index: 100));
            Check(journal, 101);
            Assert.Equal('A', journal.Recovery.Label);
        }

        static void Check(NodeJournal journal, long lastIndex)
        {
            Assert.Equal(101, journal.FirstIndex);
            Assert.Equal(lastIndex, journal.LastIndex);
            Assert.Equal(Encode([9, 9]), journal.Vote.ToArray());
            Assert.Equal(Encode([7]), journal.Configuration.ToArray());
            Assert.Equal(98, journal.ConfigurationAt(200).Index); // see ResetAt
        }
    }

    [Fact]
    public void Opening_resets_a_log_that_ends_before_the_snapshot()
    {
        var journal = Open(_disk);
        journal.Write([CreateVote(journal)]);
        Append(journal, 5);
        _disk.KillProcess();
        journal = Open(_disk, manifestIndex: 100, reset: ResetAt(mark: 3, index: 100));
        Assert.Equal(('I', TailVerdict.ContinueAfterSnapshot), (journal.Recovery.Label, journal.Recovery.Verdict));
        Assert.Equal(101, journal.FirstIndex);
        Assert.Equal(100, journal.LastIndex);
        Assert.Equal(4, journal.LastTerm);
        Assert.Equal(500, journal.OperationsBeforeNext);
        Assert.Equal(Encode([9, 9]), journal.Vote.ToArray());
        Assert.Equal(new EntryPosition(Term: 4, Index: 100), journal.Recovery.MayHaveAcknowledged);
    }

    [Fact]
    public void Opening_discards_even_a_longer_log_that_lacks_the_snapshot_mark()
    {
        Append(Open(_disk), 60);
        _disk.KillProcess();
        var journal = Open(_disk, manifestIndex: 20, reset: ResetAt(mark: 3, index: 20));
        Assert.Equal((21L, 20L), (journal.FirstIndex, journal.LastIndex));
        Assert.Empty(ReadAll(journal));
    }

    [Fact]
    public void Without_a_mark_a_log_that_ends_before_the_manifest_is_damage()
    {
        Append(Open(_disk), 5);
        _disk.KillProcess();
        Assert.Throws<JournalDamagedException>(() => Open(_disk, manifestIndex: 100));
    }

    /// <summary>
    /// A missing journal has lost the vote, so opening fails even if the manifest carries a reset mark.
    /// </summary>
    [Fact]
    public void A_missing_journal_fails_even_with_a_reset_mark() =>
        Assert.Throws<JournalDamagedException>(() =>
            Open(_disk, manifestIndex: 100, reset: ResetAt(mark: 3, index: 100))
        );

    [Fact]
    public void A_reader_opened_before_a_reset_reads_the_old_log_and_then_releases_its_segments()
    {
        var journal = Open(_disk);
        Append(journal, 60);
        long before = journal.LiveBytes;
        using (var reader = journal.Read())
        {
            journal.ResetTo(ResetAt(mark: 1, index: 100));
            journal.ReleaseThrough(100);
            Assert.True(journal.LiveBytes >= before);
            int count = 0;
            while (reader.Next(out var frame))
            {
                Assert.Equal(++count, frame.Index);
            }

            Assert.Equal(60, count);
        }

        journal.ReleaseThrough(100);
        Assert.Equal(SegmentBytes, journal.LiveBytes);
        _disk.KillProcess();
        using var again = Open(_disk, manifestIndex: 100, reset: ResetAt(mark: 1, index: 100));
        Assert.Equal(100, again.LastIndex);
    }

    /// <summary>Returns a reset to an index in term 4, with five operations an entry.</summary>
    private static JournalReset ResetAt(long mark, long index) =>
        new(
            mark,
            new JournalPosition(index, Term: 4, Operations: 5 * index),
            ConfigurationIndex: index - 2,
            Configuration: Encode([7])
        );

    /// <summary>Returns a frame with the vote [9, 9].</summary>
    private static JournalFrame CreateVote(NodeJournal journal) =>
        new(
            FrameType.Vote,
            Index: 0,
            Term: 5,
            journal.OperationsBeforeNext,
            OperationCount: 0,
            Payload: Encode([9, 9])
        );
}
