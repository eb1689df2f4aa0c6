using Rookery.Platform;
using Rookery.Simulation;
using static Rookery.Journal.Tests.TestJournal;

namespace Rookery.Journal.Tests;

/// <summary>
/// What a member still knows from its damaged journal: through which entry it may have acknowledged, its last vote, and
/// the members of the cluster. Frames are at the blocks of the first segment, so entry 3 is at block 3.
/// </summary>
public sealed class MemberDamageTests
{
    private const string First = Folder + "/journal-00000001.segment";
    private const string Second = Folder + "/journal-00000002.segment";

    private readonly SimulatedDisk _disk = new("/data");

    [Fact]
    public void Lost_acknowledged_entries_are_known_across_restarts_until_the_log_is_as_up_to_date_again()
    {
        Append(Open(_disk), 20);
        Rot(3);
        OpenAndCheck('B', new EntryPosition(Term: 1, Index: 20), lastIndex: 2);
        OpenAndCheck('A', new EntryPosition(Term: 1, Index: 20), lastIndex: 2);
        Open(_disk, hasPeers: true).StopCleanly();
        _disk.KillProcess();
        OpenAndCheck('S', new EntryPosition(Term: 1, Index: 20), lastIndex: 2);
        Append(Open(_disk, hasPeers: true), 17);
        _disk.KillProcess();
        OpenAndCheck('A', new EntryPosition(Term: 1, Index: 20), lastIndex: 19);
        Append(Open(_disk, hasPeers: true), 1);
        _disk.KillProcess();
        OpenAndCheck('A', new EntryPosition(Term: 1, Index: 20), lastIndex: 20);
        using var journal = Open(_disk, hasPeers: true);
        journal.Write([TruncateAfter(18)]);
        _disk.KillProcess();
        OpenAndCheck('A', new EntryPosition(Term: 1, Index: 18), lastIndex: 18);
    }

    /// <summary>
    /// Damage on cards affects neighbouring blocks: before the first loss is repaired, the segment before the one that
    /// records it is damaged too.
    /// </summary>
    [Fact]
    public void The_loss_stays_known_when_earlier_entries_are_damaged_too()
    {
        Append(Open(_disk), 20);
        Rot(6);
        OpenAndCheck('B', new EntryPosition(Term: 1, Index: 20), lastIndex: 5);
        Rot(3);
        OpenAndCheck('B', new EntryPosition(Term: 1, Index: 20), lastIndex: 2);
        OpenAndCheck('A', new EntryPosition(Term: 1, Index: 20), lastIndex: 2);
    }

    /// <summary>
    /// A leader of a later term without the lost entries was elected without this store's vote, so these entries were
    /// not committed.
    /// </summary>
    [Fact]
    public void An_entry_of_a_later_term_clears_the_loss()
    {
        Append(Open(_disk), 20);
        Rot(3);
        var journal = Open(_disk, hasPeers: true);
        journal.Write([Next(journal, term: 2)]);
        _disk.KillProcess();
        OpenAndCheck('A', new EntryPosition(Term: 2, Index: 3), lastIndex: 3);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public void An_installed_snapshot_clears_exactly_the_loss_that_it_covers(long term)
    {
        Append(Open(_disk), 40, length: 2000);
        Rot(3);
        var journal = Open(_disk, hasPeers: true);
        journal.ResetTo(
            new JournalReset(
                Mark: 1,
                new JournalPosition(Index: 30, Term: term, Operations: 60),
                ConfigurationIndex: 0,
                default
            )
        );
        _disk.KillProcess();
        using var again = Open(
            _disk,
            manifestIndex: 30,
            hasPeers: true,
            reset: new JournalReset(
                Mark: 1,
                new JournalPosition(Index: 30, Term: term, Operations: 60),
                ConfigurationIndex: 0,
                default
            )
        );
        Assert.Equal(
            term == 1 ? new EntryPosition(Term: 1, Index: 40) : new EntryPosition(Term: 3, Index: 30),
            again.Recovery.MayHaveAcknowledged
        );
    }

    [Fact]
    public void The_last_acknowledged_entry_is_reported_with_its_term_after_the_gap()
    {
        var journal = Open(_disk);
        Append(journal, 3);
        journal.Write([CreateVote(9), Next(journal, term: 9), Next(journal, ahead: 1, term: 9)]);
        _disk.KillProcess();
        Rot(2);
        OpenAndCheck('B', new EntryPosition(Term: 9, Index: 5), lastIndex: 1);
    }

    /// <summary>
    /// Only the first frame of a write is at a block boundary. Its other frames were acknowledged together with it.
    /// </summary>
    [Fact]
    public void Every_entry_of_a_damaged_write_counts_as_acknowledged()
    {
        var journal = Open(_disk);
        Append(journal, 1);
        journal.Write([Next(journal), Next(journal, ahead: 1), Next(journal, ahead: 2), Next(journal, ahead: 3)]);
        journal.Write([CreateVote(2)]);
        _disk.KillProcess();
        _disk.Rot(First, (2 * BlockBytes) + 100 + PayloadBytes + 64, mask: 1);
        OpenAndCheck('B', new EntryPosition(Term: 1, Index: 5), lastIndex: 2);
    }

    [Fact]
    public void A_truncation_after_the_gap_still_applies()
    {
        var journal = Open(_disk);
        Append(journal, 6);
        journal.Write([TruncateAfter(4)]);
        journal.Write([CreateVote(7)]);
        _disk.KillProcess();
        Rot(2);
        OpenAndCheck('B', new EntryPosition(Term: 1, Index: 4), lastIndex: 1);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(30)]
    public void The_newest_vote_is_used_even_if_it_follows_the_gap(int entriesAfter)
    {
        var journal = Open(_disk);
        journal.Write([CreateVote(1)]);
        Append(journal, 4);
        journal.Write([CreateVote(5)]);
        Append(journal, entriesAfter);
        _disk.KillProcess();
        _disk.Rot(First, (4 * BlockBytes) + 100, mask: 1);
        for (int start = 0; start < 3; start++)
        {
            using var again = Open(_disk, hasPeers: true);
            Assert.Equal(
                (start == 0 ? 'B' : 'A', Hex(CreateVote(5).Payload), 1L),
                (again.Recovery.Label, Hex(again.Vote), again.LastIndex)
            );
            _disk.KillProcess();
        }
    }

    [Theory]
    [InlineData(3, true)] // too few for another segment, whose header would repeat the vote
    [InlineData(60, false)]
    public void A_member_with_an_unreadable_vote_stops_unless_a_later_header_repeats_it(int entriesAfter, bool stops)
    {
        var journal = Open(_disk);
        Append(journal, 2);
        journal.Write([CreateVote(5)]);
        Append(journal, entriesAfter);
        _disk.KillProcess();
        _disk.Rot(First, (3 * BlockBytes) + 70, mask: 4);
        _disk.Rot(First, (4 * BlockBytes) + 70, mask: 4);
        if (stops)
        {
            Assert.Contains(
                "last vote may be lost",
                Assert
                    .Throws<JournalDamagedException>(() => Assert.Fail(Open(_disk, hasPeers: true).Recovery.ToString()))
                    .Message,
                StringComparison.Ordinal
            );
            return;
        }

        using var again = Open(_disk, hasPeers: true);
        Assert.Equal(('B', Hex(CreateVote(5).Payload)), (again.Recovery.Label, Hex(again.Vote)));
    }

    /// <summary>
    /// Several blocks are damaged at once, as on a card with large pages. The first frame after them shows whether a
    /// vote was among them.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_gap_that_hides_a_vote_is_distinguished_from_one_that_does_not(bool hidesVote)
    {
        var journal = Open(_disk);
        journal.Write([CreateVote(1)]);
        Append(journal, 2);
        if (hidesVote)
        {
            journal.Write([CreateVote(5)]);
        }
        else
        {
            Append(journal, 2);
        }

        Append(journal, 1);
        _disk.KillProcess();
        for (int block = 4; block < 7; block++)
        {
            _disk.Rot(First, block * BlockBytes, mask: 1);
        }

        if (hidesVote)
        {
            Assert.Throws<JournalDamagedException>(() => Assert.Fail(Open(_disk, hasPeers: true).Recovery.ToString()));
            return;
        }

        using var again = Open(_disk, hasPeers: true);
        Assert.Equal(
            ('B', 1L, new EntryPosition(Term: 1, Index: 5)),
            (again.Recovery.Label, again.LastIndex, again.Recovery.MayHaveAcknowledged)
        );
    }

    [Fact]
    public void A_member_stops_if_its_newest_segment_lost_its_header()
    {
        Append(Open(_disk), 9);
        _disk.KillProcess();
        _disk.Rot(Second, offset: 30, mask: 1);
        Assert.Throws<JournalDamagedException>(() => Assert.Fail(Open(_disk, hasPeers: true).Recovery.ToString()));
    }

    [Fact]
    public void A_member_skips_damaged_entries_that_its_manifest_covers()
    {
        var journal = Open(_disk);
        journal.Write([Next(journal) with { Type = FrameType.Configuration, Payload = Encode([7]) }]);
        Append(journal, 20);
        _disk.KillProcess();
        Rot(3);
        for (int start = 0; start < 2; start++)
        {
            using var again = Open(_disk, manifestIndex: 4, hasPeers: true);
            Assert.Equal(
                ('D', 4L, 21L, new EntryPosition(Term: 1, Index: 21)),
                (again.Recovery.Label, again.FirstIndex, again.LastIndex, again.Recovery.MayHaveAcknowledged)
            );
            Assert.Equal(
                (1L, Hex(Encode([7]))),
                (again.ConfigurationAt(4).Index, Hex(again.ConfigurationAt(4).Payload))
            );
            _disk.KillProcess();
        }
    }

    [Theory]
    [InlineData(3, 'B')]
    [InlineData(20, 'D')]
    public void A_configuration_in_the_gap_comes_from_a_later_header_or_from_peers(int entriesAfter, char label)
    {
        var journal = Open(_disk);
        Append(journal, 2);
        journal.Write([Next(journal) with { Type = FrameType.Configuration, Payload = Encode([7]) }]);
        Append(journal, entriesAfter);
        _disk.KillProcess();
        _disk.Rot(First, (3 * BlockBytes) + 70, mask: 1);
        using var again = Open(_disk, manifestIndex: 3, hasPeers: true);
        if (label == 'B')
        {
            Assert.Equal(
                ('B', 2L, new EntryPosition(Term: 1, Index: 6)),
                (again.Recovery.Label, again.LastIndex, again.Recovery.MayHaveAcknowledged)
            );
            _disk.KillProcess();
            using var later = Open(_disk, manifestIndex: 3, hasPeers: true);
            Assert.Equal(
                ('A', 2L, new EntryPosition(Term: 1, Index: 6)),
                (later.Recovery.Label, later.LastIndex, later.Recovery.MayHaveAcknowledged)
            );
            return;
        }

        Assert.Equal(('D', 4L), (again.Recovery.Label, again.FirstIndex));
        Assert.Equal((3L, Hex(Encode([7]))), (again.ConfigurationAt(3).Index, Hex(again.ConfigurationAt(3).Payload)));
    }

    /// <summary>
    /// The gap begins before the manifest's index and ends after it: the journal continues at the manifest's index, and
    /// the peers send the rest.
    /// </summary>
    [Fact]
    public void A_log_damaged_below_the_manifest_index_is_reset_to_that_index()
    {
        var journal = Open(_disk);
        journal.Write([CreateVote(3), Next(journal) with { Type = FrameType.Configuration, Payload = Encode([7]) }]);
        Append(journal, 19);
        _disk.KillProcess();
        for (int block = 4; block < 8; block++)
        {
            _disk.Rot(First, block * BlockBytes, mask: 1);
        }

        for (int start = 0; start < 3; start++)
        {
            using var again = Open(_disk, manifestIndex: 4, hasPeers: true);
            Assert.Equal(
                (start == 0 ? 'B' : 'A', 5L, 4L, 8L),
                (again.Recovery.Label, again.FirstIndex, again.LastIndex, again.OperationsBeforeNext)
            );
            Assert.Equal(
                (new EntryPosition(Term: 1, Index: 20), Hex(CreateVote(3).Payload)),
                (again.Recovery.MayHaveAcknowledged, Hex(again.Vote))
            );
            Assert.Equal(
                (1L, Hex(Encode([7]))),
                (again.ConfigurationAt(4).Index, Hex(again.ConfigurationAt(4).Payload))
            );
            Assert.Empty(again.TakeRecovered());
            _disk.KillProcess();
        }

        Append(Open(_disk, manifestIndex: 4, hasPeers: true), 16);
        _disk.KillProcess();
        using var healed = Open(_disk, manifestIndex: 4, hasPeers: true);
        Assert.Equal(new EntryPosition(Term: 1, Index: 20), healed.Recovery.MayHaveAcknowledged);
        AssertHolds(healed, from: 5, through: 20);
    }

    /// <summary>
    /// The signs of the damage stay until the loss is recorded durably: after a power cut at any call of the recovery,
    /// the node still knows its loss.
    /// </summary>
    [Theory]
    [InlineData(0)]
    [InlineData(4)]
    public void A_power_cut_during_recovery_loses_nothing(long manifestIndex)
    {
        var journal = Open(_disk);
        journal.Write([CreateVote(1), Next(journal)]);
        Append(journal, 9);
        journal.Write([CreateVote(5)]);
        Append(journal, 20);
        _disk.KillProcess();
        _disk.Rot(First, (5 * BlockBytes) + 100, mask: 1);
        _disk.Rot(First, (6 * BlockBytes) + 100, mask: 1);
        int before = _disk.OperationCount;
        Open(_disk, manifestIndex, hasPeers: true).Dispose();
        int after = _disk.OperationCount;
        Assert.True(after > before + 3, "the recovery has several disk operations");
        for (int operation = before; operation <= after; operation++)
        {
            for (int seed = 0; seed < 4; seed++)
            {
                var image = _disk.CrashAt(operation, seed);
                using var again = Open(image, manifestIndex, hasPeers: true);
                Assert.Equal(
                    (new EntryPosition(Term: 1, Index: 30), Hex(CreateVote(5).Payload)),
                    (again.Recovery.MayHaveAcknowledged, Hex(again.Vote))
                );
            }
        }
    }

    /// <summary>The number is part of the file's name. The operator deletes files with lower numbers.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void Files_kept_aside_stay_unchanged_across_restarts(int number)
    {
        Append(Open(_disk), 20);
        _disk.KillProcess();
        Rot(3);
        string kept = $"{First}.aside-{number}";
        string[] older = [.. Enumerable.Range(1, number - 1).Select(static other => $"{First}.aside-{other}")];
        Array.ForEach(older, path => _disk.Open(path, DiskOpen.CreateNew).Dispose());
        Open(_disk, hasPeers: true).Dispose();
        Array.ForEach(older, _disk.Delete);
        _disk.KillProcess();
        var journal = Open(_disk, hasPeers: true);
        byte[] keptBytes = _disk.ReadAll(kept);
        for (int i = 0; i < 60; i++)
        {
            Append(journal, 1);
            journal.ReleaseThrough(journal.LastIndex);
        }

        Assert.Equal(keptBytes, _disk.ReadAll(kept));
    }

    private static string Hex(ReadOnlyMemory<byte> bytes) => Convert.ToHexString(bytes.Span);

    private static JournalFrame CreateVote(byte number) =>
        new(FrameType.Vote, Index: 0, Term: number, OperationsBefore: 0, OperationCount: 0, Encode([number, number]));

    private static JournalFrame TruncateAfter(long index) =>
        new(FrameType.Truncation, Index: index, Term: 1, OperationsBefore: 2 * index, OperationCount: 0, default);

    /// <summary>Kills the process and damages the payload of an entry of the first segment.</summary>
    private void Rot(int entry)
    {
        _disk.KillProcess();
        _disk.Rot(First, (entry * BlockBytes) + 100, mask: 1);
    }

    /// <summary>
    /// Opens the journal as that of a member of a cluster, checks what it knows, and kills the process. The label is
    /// the letter of the recovery's case in docs/explanation/durability.md: A is a torn tail, B a damaged middle, D a
    /// gap that the manifest covers, S a clean stop.
    /// </summary>
    private void OpenAndCheck(char label, EntryPosition acknowledged, long lastIndex)
    {
        using (var journal = Open(_disk, hasPeers: true))
        {
            Assert.Equal(
                (label, acknowledged, lastIndex),
                (journal.Recovery.Label, journal.Recovery.MayHaveAcknowledged, journal.LastIndex)
            );
        }

        _disk.KillProcess();
    }
}
