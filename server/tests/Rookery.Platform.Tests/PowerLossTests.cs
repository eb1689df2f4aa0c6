using System.Text;
using Rookery.Simulation;

namespace Rookery.Platform.Tests;

/// <summary>The bytes that a power cut of the simulated disk may lose, and those that it must keep.</summary>
public sealed class PowerLossTests
{
    /// <summary>Power cuts that are tried at each operation.</summary>
    private const int Seeds = 1000;

    private readonly SimulatedDisk _disk = new("/data", "/other");

    [Fact]
    public void Synced_bytes_survive_a_power_cut_at_every_later_operation()
    {
        using var file = _disk.Open("/data/a", DiskOpen.CreateNew);
        file.Write(Sectors("abcd"), 0);
        file.Sync();
        _disk.SyncDirectory("/data");
        int promised = _disk.OperationCount;
        file.Write(Sectors("xy"), 512);
        file.Sync();
        int promisedLater = _disk.OperationCount;

        for (int operation = promised; operation <= promisedLater; operation++)
        {
            var seen = FindOutcomes(operation);
            Assert.Equal(
                operation == promised ? ["abcd"]
                    : operation == promisedLater ? ["axyd"]
                    : ["abcd", "abyd", "axcd", "axyd"],
                seen
            );
        }
    }

    [Fact]
    public void Unsynced_sectors_survive_in_any_combination_of_their_versions_and_no_other_content_appears()
    {
        using var file = CreateSynced("/data/a", "ab");
        file.Write(Sectors("cd"), 0);
        file.Write(Sectors("e"), 0);
        Assert.Equal(["ab", "ad", "cb", "cd", "eb", "ed"], FindOutcomes(_disk.OperationCount));
    }

    [Fact]
    public void Every_unsynced_length_may_survive_and_lost_bytes_below_it_read_as_zeros()
    {
        using var file = CreateSynced("/data/a", "a");
        file.Write(Sectors("b"), 512);
        file.Allocate(3 * 512);
        Assert.Equal(["a", "a.", "a..", "ab", "ab."], FindOutcomes(_disk.OperationCount));
    }

    [Fact]
    public void Truncated_bytes_do_not_come_back_when_the_file_grows_again()
    {
        using var file = CreateSynced("/data/a", "abc");
        file.SetLength(512);
        file.SetLength(3 * 512);
        Assert.Equal(["a", "a..", "abc"], FindOutcomes(_disk.OperationCount));
        file.Write(Sectors("x"), 1024);
        Assert.Equal(["a", "a..", "a.x", "abc"], FindOutcomes(_disk.OperationCount));

        for (int seed = 0; seed < Seeds; seed++)
        {
            var image = _disk.AfterPowerLoss(seed);
            using var again = image.Open("/data/a", DiskOpen.ReadWrite);
            if (again.Length == 512)
            {
                again.SetLength(3 * 512);
                Assert.Equal("a..", Letters(image.ReadAll("/data/a")));
            }
        }
    }

    [Fact]
    public void A_partial_length_hides_the_rest_of_its_sector_for_good()
    {
        using var file = _disk.Open("/data/a", DiskOpen.CreateNew);
        _disk.SyncDirectory("/data");
        file.Write("0123456789"u8, offset: 0);
        file.Write("abcdef"u8, 10);
        foreach (int seed in Enumerable.Range(0, Seeds))
        {
            var image = _disk.AfterPowerLoss(seed);
            using var again = image.Open("/data/a", DiskOpen.ReadWrite);
            long length = again.Length;
            Assert.Contains(length, new long[] { 0, 10, 16 }); // none, the first or both of the writes
            again.SetLength(512);
            byte[] content = image.ReadAll("/data/a");
            Assert.Equal(-1, content.AsSpan((int)length).IndexOfAnyExcept((byte)0));
        }
    }

    [Fact]
    public void The_next_sync_does_not_make_durable_what_a_failed_sync_lost()
    {
        using var file = CreateSynced("/data/a", "ab");
        file.Write(Sectors("x"), 0);
        _disk.Inject(new DiskFault(AtCall: 1, Errno.InputOutput) { Calls = DiskCalls.Sync });
        Assert.Throws<DiskException>(file.Sync);
        file.Write(Sectors("y"), 512);
        file.Sync();
        Assert.Equal(["ay", "xy"], FindOutcomes(_disk.OperationCount));
        file.Write(Sectors("x"), 0);
        file.Sync();
        Assert.Equal(["xy"], FindOutcomes(_disk.OperationCount));
    }

    [Fact]
    public void Of_an_unsynced_directory_the_first_changes_survive_in_order()
    {
        _disk.WriteNew("/data/a", []);
        _disk.WriteNew("/data/b", []);
        _disk.Rename("/data/a", "/data/c");
        _disk.Delete("/data/b");
        Assert.Equal(["", "a", "a,b", "b,c", "c"], FindNameOutcomes("/data"));
        _disk.SyncDirectory("/data");
        Assert.Equal(["c"], FindNameOutcomes("/data"));
    }

    [Fact]
    public void Syncing_a_file_does_not_make_its_name_durable()
    {
        using var file = _disk.Open("/data/a", DiskOpen.CreateNew);
        file.Write(Sectors("a"), 0);
        file.Sync();
        Assert.Equal(["", "a"], FindNameOutcomes("/data"));
        Assert.Equal(["-", "a"], FindOutcomes(_disk.OperationCount));
    }

    [Fact]
    public void A_new_directory_is_lost_with_its_content_until_its_parent_is_synced()
    {
        _disk.CreateDirectory("/data/d");
        _disk.WriteNew("/data/d/f", []);
        _disk.SyncDirectory("/data/d");
        Assert.Equal(["", "d"], FindNameOutcomes("/data"));
        _disk.SyncDirectory("/data");
        Assert.Equal(["d"], FindNameOutcomes("/data"));
        Assert.Equal(["f"], FindNameOutcomes("/data/d"));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_file_that_moves_between_directories_is_always_in_at_least_one_of_them(bool sourceSynced)
    {
        CreateSynced("/data/a", "a").Dispose();
        _disk.Rename("/data/a", "/other/b");
        if (sourceSynced)
        {
            _disk.SyncDirectory("/data");
        }

        string[] seen = Distinct(
            CutPowerAt(_disk.OperationCount)
                .Select(image =>
                    (image.Exists("/data/a") ? "source " : string.Empty)
                    + (image.Exists("/other/b") ? "target" : string.Empty)
                )
        );
        Assert.Equal(sourceSynced ? ["target"] : ["source ", "source target", "target"], seen);
    }

    [Fact]
    public void Linked_names_have_the_same_surviving_content()
    {
        using var file = CreateSynced("/data/a", "ab");
        _disk.Link("/data/a", "/data/b");
        _disk.SyncDirectory("/data");
        file.Write(Sectors("xy"), 0);
        foreach (var image in CutPowerAt(_disk.OperationCount))
        {
            using (var one = image.Open("/data/a", DiskOpen.ReadWrite))
            {
                Assert.Equal(image.ReadAll("/data/a"), image.ReadAll("/data/b"));
                one.Write("z"u8, offset: 0);
            }

            Assert.Equal((byte)'z', image.ReadAll("/data/b")[0]);
        }
    }

    [Fact]
    public void An_image_of_a_past_operation_does_not_depend_on_later_operations()
    {
        using var file = CreateSynced("/data/a", "abcd");
        var early = new List<string>();
        for (int i = 0; i < 20; i++)
        {
            file.Write(Sectors(((char)('e' + i)).ToString()), i % 5 * 512);
            early.Add(Letters(_disk.AfterPowerLoss(i).ReadAll("/data/a")));
            if (i % 3 == 0)
            {
                file.Sync();
                early.Add(Letters(_disk.AfterPowerLoss(i).ReadAll("/data/a")));
            }
        }

        var late = new List<string>();
        int operation = _disk.OperationCount - (20 + 7); // writes and syncs of the loop above
        for (int i = 0; i < 20; i++)
        {
            late.Add(Letters(_disk.CrashAt(++operation, i).ReadAll("/data/a")));
            if (i % 3 == 0)
            {
                late.Add(Letters(_disk.CrashAt(++operation, i).ReadAll("/data/a")));
            }
        }

        Assert.Equal(early, late);
    }

    [Fact]
    public void An_image_can_be_written_and_crashed_again_without_touching_its_original()
    {
        using var file = CreateSynced("/data/a", "ab");
        file.Write(Sectors("cd"), 0);
        var seen = new List<string>();
        for (int seed = 0; seed < Seeds; seed++)
        {
            var image = _disk.AfterPowerLoss(seed);
            string before = Letters(image.ReadAll("/data/a"));
            using var again = image.Open("/data/a", DiskOpen.ReadWrite);
            again.Write(Sectors("z"), 512);
            string after = Letters(image.AfterPowerLoss(seed + 1).ReadAll("/data/a"));
            Assert.True(
                after.EndsWith('z') || string.Equals(after, before, StringComparison.Ordinal),
                $"seed {seed}: {before} became {after}"
            );
            seen.Add(after);
            again.Sync();
            Assert.Equal(before[0] + "z", Letters(image.AfterPowerLoss(seed + 2).ReadAll("/data/a")));
        }

        Assert.Equal(["ab", "ad", "az", "cb", "cd", "cz"], Distinct(seen));
        Assert.Equal("cd", Letters(_disk.ReadAll("/data/a")));
    }

    [Fact]
    public void A_deleted_file_may_come_back_complete_while_its_directory_is_unsynced()
    {
        CreateSynced("/data/a", "ab").Dispose();
        _disk.Delete("/data/a");
        Assert.Equal(["-", "ab"], FindOutcomes(_disk.OperationCount));
    }

    [Fact]
    public void After_random_workloads_only_contents_that_a_list_of_writes_allows_survive()
    {
        for (int seed = 0; seed < 50; seed++)
        {
            var random = new Random(seed);
            var subject = new SimulatedDisk("/data");
            using var file = subject.Open("/data/a", DiskOpen.CreateNew);
            file.Write(new byte[8 * 512], 0);
            file.Sync();
            subject.SyncDirectory("/data");
            // The model: the value that each write gave a sector, and when the file was synced.
            var history = new List<(int Operation, int Sector, byte Value)>();
            var synced = new List<int> { subject.OperationCount };
            for (byte value = 1; value < 40; value++)
            {
                int first = random.Next(8);
                int count = random.Next(1, 9 - first);
                file.Write(Enumerable.Repeat(value, count * 512).ToArray(), first * 512);
                history.AddRange(
                    Enumerable.Range(first, count).Select(sector => (subject.OperationCount, sector, value))
                );
                if (random.Next(3) == 0)
                {
                    file.Sync();
                    synced.Add(subject.OperationCount);
                }
            }

            for (int trial = 0; trial < 200; trial++)
            {
                int crash = random.Next(synced[0], subject.OperationCount + 1);
                int lastSync = synced.FindLast(operation => operation <= crash);
                byte[] content = subject.CrashAt(crash, trial).ReadAll("/data/a");
                for (int sector = 0; sector < 8; sector++)
                {
                    var known = history.Where(write => write.Sector == sector && write.Operation <= crash).ToList();
                    byte durable = known.LastOrDefault(write => write.Operation < lastSync).Value;
                    var allowed = known
                        .Where(write => write.Operation > lastSync)
                        .Select(write => write.Value)
                        .Append(durable);
                    Assert.True(
                        allowed.Contains(content[sector * 512]),
                        $"seed {seed}, crash {crash}, trial {trial}: the bytes of sector {sector} cannot have survived"
                    );
                    Assert.Equal(-1, content.AsSpan(sector * 512, 512).IndexOfAnyExcept(content[sector * 512]));
                }
            }
        }
    }

    /// <summary>Returns for each letter a sector of 512 bytes that is filled with it.</summary>
    private static byte[] Sectors(string letters) =>
        [.. letters.SelectMany(letter => Enumerable.Repeat((byte)letter, 512))];

    /// <summary>Returns the letter that fills each sector, with a dot for zeros.</summary>
    private static string Letters(byte[] content) =>
        Encoding.ASCII.GetString([.. content.Chunk(512).Select(sector => sector[0] == 0 ? (byte)'.' : sector[0])]);

    /// <summary>Creates a file whose content and name are durable.</summary>
    private IDiskFile CreateSynced(string path, string letters)
    {
        var file = _disk.Open(path, DiskOpen.CreateNew);
        file.Write(Sectors(letters), 0);
        file.Sync();
        _disk.SyncDirectory(Path.GetDirectoryName(path)!);
        return file;
    }

    private IEnumerable<SimulatedDisk> CutPowerAt(int operation) =>
        Enumerable.Range(0, Seeds).Select(seed => _disk.CrashAt(operation, seed));

    /// <summary>
    /// Returns the different contents of /data/a after power cuts at an operation; a hyphen stands for no file, and
    /// for an empty one.
    /// </summary>
    private string[] FindOutcomes(int operation) =>
        Distinct(
            CutPowerAt(operation)
                .Select(image => image.Exists("/data/a") ? Letters(image.ReadAll("/data/a")) : "-")
                .Select(letters => letters.Length == 0 ? "-" : letters)
        );

    /// <summary>Returns the different lists of names in a directory after power cuts now.</summary>
    private string[] FindNameOutcomes(string directory) =>
        Distinct(CutPowerAt(_disk.OperationCount).Select(image => string.Join(',', image.List(directory))));

    private static string[] Distinct(IEnumerable<string> outcomes) =>
        [.. outcomes.Distinct(StringComparer.Ordinal).Order(StringComparer.Ordinal)];
}
