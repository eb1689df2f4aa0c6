using Rookery.Simulation;
using static Rookery.Journal.Tests.TestJournal;

namespace Rookery.Journal.Tests;

/// <summary>Flipped bits in segments, at a start and while the journal is open.</summary>
public sealed class RotTests
{
    /// <summary>
    /// After a clean stop every flipped bit is either harmless or reported: no frame is lost, and no wrong content is
    /// read.
    /// </summary>
    [Fact]
    public void A_flipped_bit_anywhere_is_harmless_or_reported()
    {
        var disk = new SimulatedDisk("/data");
        var journal = Open(disk);
        Append(journal, 5, 900);
        journal.ReleaseThrough(0);
        journal.Write([Next(journal, 900), Next(journal, 900, ahead: 1)]);
        Append(journal, 4, 900);
        disk.KillProcess();
        journal = Open(disk);
        Append(journal, 3, 900);
        journal.StopCleanly();
        disk.KillProcess();

        int reported = 0;
        int harmless = 0;
        foreach (string file in disk.Files.Where(static file => file.EndsWith(".segment", StringComparison.Ordinal)))
        {
            // Every byte of headers, and some of the rest of each block.
            for (int offset = 0; offset < SegmentBytes; offset += offset % BlockBytes < 80 ? 1 : 61)
            {
                var image = disk.AfterPowerLoss(offset);
                image.Rot(file, offset, (byte)(1 << (offset % 8)));
                try
                {
                    using var opened = Open(image);
                    AssertHolds(opened, from: 1, through: 14, length: 900);
                    harmless++;
                }
                catch (JournalDamagedException damage)
                {
                    Assert.Contains("would be lost", damage.Message, StringComparison.Ordinal);
                    reported++;
                }
            }
        }

        Assert.True(
            reported > 1000 && harmless > 300,
            $"many flips are reported and many are harmless, not {reported} and {harmless}"
        );
    }

    /// <summary>The reader detects damage that occurs after the journal was opened.</summary>
    [Fact]
    public void A_reader_reports_a_frame_that_was_damaged_after_opening()
    {
        var disk = new SimulatedDisk("/data");
        using var journal = Open(disk);
        Append(journal, 3);
        disk.Rot(
            disk.Files.Single(static file => file.EndsWith(".segment", StringComparison.Ordinal)),
            (2 * BlockBytes) + 200,
            mask: 1
        );
        using var reader = journal.Read(1);
        Assert.True(reader.Next(out _));
        var damage = Assert.Throws<JournalDamagedException>(() => reader.Next(out _));
        Assert.Equal(2 * BlockBytes, damage.Offset);
    }

    /// <summary>
    /// The limit that docs/explanation/durability.md states: a damaged last write looks like a torn one, unless a
    /// manifest or a clean stop proves that it was synced.
    /// </summary>
    [Fact]
    public void Damage_of_the_last_write_looks_torn_unless_its_sync_is_proven()
    {
        var disk = new SimulatedDisk("/data");
        Append(Open(disk), 3);
        disk.KillProcess();
        disk.Rot($"{Folder}/journal-00000001.segment", (3 * BlockBytes) + 200, mask: 1);
        Assert.Throws<JournalDamagedException>(() => Open(disk.AfterPowerLoss(seed: 1), manifestIndex: 3));
        using var opened = Open(disk.AfterPowerLoss(seed: 1));
        Assert.Equal((TailVerdict.TruncateTornTail, 2), (opened.Recovery.Verdict, opened.LastIndex));
    }
}
