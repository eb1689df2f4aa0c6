using Rookery.Platform;
using Rookery.Simulation;
using static Rookery.Journal.Tests.TestJournal;

namespace Rookery.Journal.Tests;

/// <summary>
/// Disk calls that fail. After a failed write the journal is latched: it refuses all further writes, because it does
/// not know what is durable.
/// </summary>
public sealed class FaultTests
{
    private readonly SimulatedDisk _disk = new("/data");

    [Theory]
    [InlineData(Errno.InputOutput, 0, false)]
    [InlineData(Errno.InputOutput, 700, false)]
    [InlineData(Errno.NoSpace, 0, true)]
    [InlineData(Errno.NoSpace, 5000, false)]
    [InlineData(Errno.ReadOnly, 0, true)]
    public void After_any_failed_disk_call_acknowledged_frames_survive_and_a_latched_journal_writes_nothing(
        Errno error,
        int shortWriteBytes,
        bool sticky
    )
    {
        const int seed = 5;
        const int steps = 40;
        var calls = sticky ? DiskCalls.Changing : DiskCalls.All;
        long count = JournalWorkload.RunWithFault(seed, steps, fault: null).Disk.CallCount(calls);
        int latched = 0;
        for (long call = 1; call <= count; call++)
        {
            var fault = new DiskFault(call, error)
            {
                Calls = calls,
                ShortWriteBytes = shortWriteBytes,
                Sticky = sticky,
            };
            var (faulty, run, failure) = JournalWorkload.RunWithFault(seed, steps, fault);
            faulty.ClearFaults();
            if (failure is JournalLatchedException)
            {
                latched++;
                long changes = faulty.CallCount(DiskCalls.Changing);
                Assert.Throws<JournalLatchedException>(run.WriteOnceMore);
                Assert.Equal(changes, faulty.CallCount(DiskCalls.Changing));
            }

            faulty.KillProcess();
            try
            {
                run.CheckOnce(faulty.AfterPowerLoss(call), faulty.OperationCount);
                run.CheckOnce(faulty, faulty.OperationCount);
            }
            catch (Exception broken)
            {
                Assert.Fail($"{error} at call {call}, seed {seed}: {broken}");
            }
        }

        Assert.InRange(latched, 20, count); // many of the failed calls latch the journal
    }

    [Fact]
    public void A_full_disk_latches_the_journal_with_a_clear_message()
    {
        using var journal = Open(_disk);
        _disk.CapacityBytes = _disk.UsedBytes + 4096;
        var failure = Assert.Throws<JournalLatchedException>(() => Append(journal, 20));
        Assert.Equal(
            $"The journal in {Folder} accepts no more writes (Could not reserve space for {Folder}"
                + $"/journal-00000002.segment.part: no space is left on the device). Acknowledged writes are "
                + $"safe; remove the cause and start the node again.",
            failure.Message
        );
        Assert.Equal(7, journal.LastIndex); // what the first segment has room for
        Assert.Throws<JournalLatchedException>(journal.StopCleanly);
        Assert.DoesNotContain(_disk.Files, file => file.EndsWith(".part", StringComparison.Ordinal));
    }

    [Fact]
    public void A_failed_spare_does_not_latch_the_journal()
    {
        using var journal = Open(_disk);
        _disk.CapacityBytes = _disk.UsedBytes + 4096;
        Assert.Equal(Errno.NoSpace, Assert.Throws<DiskException>(() => journal.PrepareSpare()).Error);
        Append(journal, 3);
        _disk.CapacityBytes = long.MaxValue / 2;
        Assert.True(journal.PrepareSpare());
        Append(journal, 20);
    }

    /// <summary>
    /// After a failed sync the system marks the pages clean, although they are not on the device. The next sync
    /// succeeds and writes nothing.
    /// </summary>
    [Fact]
    public void A_frame_found_after_a_failed_sync_is_made_durable_before_the_log_contains_it()
    {
        for (int seed = 0; seed < 50; seed++)
        {
            var disk = new SimulatedDisk("/data");
            var journal = Open(disk);
            Append(journal, 2);
            disk.Inject(new DiskFault(AtCall: 1, Errno.InputOutput) { Calls = DiskCalls.Sync });
            Assert.Throws<JournalLatchedException>(() => Append(journal, 1));
            disk.KillProcess();

            journal = Open(disk);
            long lastIndex = journal.LastIndex;
            Append(journal, 1);
            using var reopened = Open(disk.AfterPowerLoss(seed));
            Assert.Equal((3, 4), (lastIndex, reopened.LastIndex));
            AssertHolds(reopened, from: 1, through: 4);
        }
    }

    [Fact]
    public void An_unreadable_sector_is_reported_and_no_entry_is_skipped()
    {
        using (var journal = Open(_disk))
        {
            Append(journal, 3);
        }

        _disk.Inject(new DiskFault(AtCall: 4, Errno.InputOutput) { Calls = DiskCalls.Read });
        Assert.Contains(
            "journal-00000001.segment",
            Assert.Throws<DiskException>(() => Open(_disk)).Message,
            StringComparison.Ordinal
        );
        _disk.ClearFaults();
        using var again = Open(_disk);
        AssertHolds(again, from: 1, through: 3);
    }
}
