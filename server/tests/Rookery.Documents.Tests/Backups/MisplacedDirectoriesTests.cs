using Rookery.Documents.Backups;
using Rookery.Documents.Nodes;
using Rookery.Documents.Tests.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Backups;

/// <summary>
/// Commands refuse a directory of the wrong kind, name the mistake, and change nothing.
/// </summary>
public sealed class MisplacedDirectoriesTests
{
    private readonly SimulatedDisk _disk = new("/data", "/backups");

    [Theory]
    [InlineData("")]
    [InlineData("/")]
    [InlineData("/storage")]
    [InlineData("/indexes")]
    [InlineData("/cluster/")]
    [InlineData("/checkpoint")]
    [InlineData("/offer")]
    [InlineData("/storage/indexes/journal")]
    [InlineData("/journal/second")]
    [InlineData("/other/../wal")]
    public void A_journal_among_other_data_of_the_node_is_refused_before_anything_is_written(string subdirectory)
    {
        using (var node = BackedUp.NewNode(_disk, documents: 3))
        {
            BackedUp.Take(node, _disk);
        }

        string journal = BackedUp.Restored + subdirectory;
        var options = SteppedNode.Options(BackedUp.Restored) with { JournalDirectory = journal };
        var restored = Assert.Throws<DataFormatException>(() =>
            new Restoration(
                _disk,
                options,
                new MemoryBudget(16 << 20),
                NoRecorder.Instance,
                new SimulatedTimeProvider()
            ).Run(BackedUp.Backup, onlyDatabase: null)
        );
        Assert.Contains($"The journal cannot be in {journal}", restored.Message, StringComparison.Ordinal);
        Assert.True(restored.IsConfigurationFault);
        Assert.Equal(restored.Message, DataDirectory.WhyNotNew(_disk, BackedUp.Restored, journal));
        Assert.Throws<DataFormatException>(() => DataDirectory.Lock(_disk, options));
        Assert.False(_disk.Exists(BackedUp.Restored));
    }

    [Theory]
    [InlineData("/data/node/journal")]
    [InlineData("/data/node/journal/")]
    [InlineData("/data/journal")]
    [InlineData("/data/node-journal")]
    [InlineData("/data/node/../wal")]
    public void A_journal_outside_of_the_data_directory_or_under_its_own_name_is_accepted(string journal) =>
        Assert.Null(DataDirectory.WhyJournalIsMisplaced(_disk, "/data/node", journal));

    /// <summary>If only the option is removed, the node starts without its latest writes, or not at all.</summary>
    [Fact]
    public void A_misplaced_journal_is_refused_with_the_advice_to_move_it()
    {
        using (BackedUp.NewNode(_disk, documents: 3))
        {
            // The test needs only the node's directory.
        }

        string? refusal = DataDirectory.WhyJournalIsMisplaced(_disk, BackedUp.Node, BackedUp.Node + "/wal");
        Assert.Contains("The journal cannot be in", refusal, StringComparison.Ordinal);
        Assert.Contains(
            $"move its files to {BackedUp.Node}/journal and leave the option out",
            refusal,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_backup_is_refused_as_a_data_directory_with_the_restore_command()
    {
        using (var node = BackedUp.NewNode(_disk, documents: 3))
        {
            BackedUp.Take(node, _disk);
        }

        Assert.False(Node.IsDataDirectory(_disk, BackedUp.Backup));
        string? refusal = DataDirectory.WhyNotNew(_disk, BackedUp.Backup, journalDirectory: null);
        Assert.Contains("`rookery restore --from /backups/one --data DIR`", refusal, StringComparison.Ordinal);
    }

    [Fact]
    public void The_refusal_to_restore_over_an_interrupted_restore_names_its_directory_and_its_journal()
    {
        using (var node = BackedUp.NewNode(_disk, documents: 3))
        {
            BackedUp.Take(node, _disk);
        }

        _disk.CreateDirectory(BackedUp.Restored);
        DataDirectory.MarkUnfinished(_disk, BackedUp.Restored);
        _disk.CreateDirectory("/data/journal");
        _disk.CreateDirectory("/data/journal/begun");
        var options = SteppedNode.Options(BackedUp.Restored) with { JournalDirectory = "/data/journal" };
        var refused = Assert.Throws<DirectoryNotEmptyException>(() =>
            new Restoration(
                _disk,
                options,
                new MemoryBudget(16 << 20),
                NoRecorder.Instance,
                new SimulatedTimeProvider()
            ).Run(BackedUp.Backup, onlyDatabase: null)
        );
        Assert.Contains("Delete it and /data/journal, and restore again.", refused.Message, StringComparison.Ordinal);
    }
}
