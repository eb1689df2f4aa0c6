using Rookery.Simulation;
using static Rookery.Journal.Tests.TestJournal;

namespace Rookery.Journal.Tests;

/// <summary>
/// A journal that begins anew behind an installed state. Power cuts at every point of it are in
/// <see cref="CrashTests"/>.
/// </summary>
public sealed class RebaseTests
{
    private readonly SimulatedDisk _disk = new("/data");

    [Fact]
    public void A_rebased_journal_keeps_the_vote_and_goes_on_behind_the_installed_state()
    {
        var journal = Open(_disk);
        journal.Write([Vote(journal)]);
        Append(journal, 5);
        journal.Rebase(Behind(mark: 3, index: 100));
        Check(journal, 100);
        journal.Write([Next(journal, term: 4)]);
        Check(journal, 101);

        for (int i = 0; i < 3; i++)
        {
            _disk.KillProcess();
            journal = Open(_disk, manifestIndex: 100, rebase: Behind(mark: 3, index: 100));
            Check(journal, 101);
            Assert.Equal('A', journal.Recovery.Label);
        }

        static void Check(NodeJournal journal, long lastIndex)
        {
            Assert.Equal(101, journal.FirstIndex);
            Assert.Equal(lastIndex, journal.LastIndex);
            Assert.Equal(Encode([9, 9]), journal.Vote.ToArray());
            Assert.Equal(Encode([7]), journal.Configuration.ToArray());
            Assert.Equal(98, journal.ConfigurationAt(200).Index);
        }
    }

    [Fact]
    public void A_journal_that_ends_before_the_installed_state_begins_anew_when_it_is_opened()
    {
        var journal = Open(_disk);
        journal.Write([Vote(journal)]);
        Append(journal, 5);
        _disk.KillProcess();
        journal = Open(_disk, manifestIndex: 100, rebase: Behind(mark: 3, index: 100));
        Assert.Equal(('I', TailVerdict.BeginBehindInstalled), (journal.Recovery.Label, journal.Recovery.Verdict));
        Assert.Equal(
            (101L, 100L, 4L, 500L),
            (journal.FirstIndex, journal.LastIndex, journal.LastTerm, journal.OperationsBeforeNext)
        );
        Assert.Equal(Encode([9, 9]), journal.Vote.ToArray());
        Assert.Equal(new EntryPosition(4, 100), journal.Recovery.MayHaveAcknowledged);
    }

    [Fact]
    public void A_longer_log_that_the_installed_state_contradicts_is_given_up_too()
    {
        Append(Open(_disk), 60);
        _disk.KillProcess();
        var journal = Open(_disk, manifestIndex: 20, rebase: Behind(mark: 3, index: 20));
        Assert.Equal((21L, 20L), (journal.FirstIndex, journal.LastIndex));
        Assert.Empty(ReadAll(journal));
    }

    /// <summary>Without the mark nothing explains why the journal ends before the manifest.</summary>
    [Fact]
    public void Without_a_mark_a_journal_that_ends_before_the_manifest_is_still_damage()
    {
        Append(Open(_disk), 5);
        _disk.KillProcess();
        Assert.Throws<JournalDamagedException>(() => Open(_disk, manifestIndex: 100));
    }

    /// <summary>An empty directory holds no vote: a mark must not make one be forgotten.</summary>
    [Fact]
    public void A_mark_does_not_make_up_for_a_journal_that_is_gone() =>
        Assert.Throws<JournalDamagedException>(() =>
            Open(_disk, manifestIndex: 100, rebase: Behind(mark: 3, index: 100))
        );

    [Fact]
    public void A_reader_of_the_old_log_reads_on_and_its_segments_are_used_again_afterwards()
    {
        var journal = Open(_disk);
        Append(journal, 60);
        long before = journal.LiveBytes;
        using (var reader = journal.Read())
        {
            journal.Rebase(Behind(mark: 1, index: 100));
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
        using var again = Open(_disk, manifestIndex: 100, rebase: Behind(mark: 1, index: 100));
        Assert.Equal(100, again.LastIndex);
    }

    [Fact]
    public void Entries_that_somebody_will_ask_for_stay()
    {
        using var journal = Open(_disk);
        Append(journal, 40);
        var kept = journal.KeepAbove(20);
        journal.ReleaseThrough(40);
        Assert.InRange(journal.FirstIndex, 2, 21);
        kept.Dispose();
        journal.ReleaseThrough(40);
        Assert.True(journal.FirstIndex > 21);
    }

    private static JournalRebase Behind(long mark, long index) =>
        new(mark, new JournalPosition(index, 4, 5 * index), index - 2, Encode([7]));

    private static JournalFrame Vote(NodeJournal journal) =>
        new(FrameType.Vote, 0, 5, journal.OperationsBeforeNext, 0, Encode([9, 9]));
}
