using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>
/// The format level of a node. A newer program is simulated by a higher <see cref="NodeOptions.NewestFormatLevel"/>.
/// </summary>
public sealed class FormatLevelTests
{
    private const string LevelFile = "/data/format-level";

    private readonly SimulatedDisk _disk = new("/data");

    [Fact]
    public void A_newer_program_keeps_the_level_and_the_older_program_reads_its_data()
    {
        using (var before = Open(newest: 1))
        {
            before.CreateDatabase("shop");
            before.Put("shop", "a", "{}");
            before.Flush();
        }

        using (var newer = Open(newest: 2))
        {
            newer.Put("shop", "b", "{}");
            newer.Flush();
            newer.Put("shop", "c", "{}");
            Assert.Equal(1, newer.Core.FormatLevel.Level);
        }

        Assert.False(_disk.Exists(LevelFile));
        using var again = Open(newest: 1);
        again.Put("shop", "d", "{}");
        Assert.Equal(["a", "b", "c", "d"], again.Documents("shop").Keys);
    }

    [Fact]
    public void Data_of_a_higher_level_are_refused_with_the_version_to_install_and_stay_unchanged()
    {
        Open(newest: 1).Dispose();
        using (var newer = Open(newest: 2))
        {
            newer.Run(EncodeLevel(2));
            Assert.Equal(2, newer.Core.FormatLevel.Level);
        }

        var before = HashFiles();
        Assert.Equal(
            $"/data is written at format level 2, and this program, version {FormatLevel.ProgramVersion}, "
                + $"knows levels up to 1: install version 0.9.2 or a newer one. Nothing was changed.",
            Assert.Throws<DataFormatException>(() => Open(newest: 1)).Message
        );
        Assert.Equal(before, HashFiles());
        using var again = Open(newest: 2);
        Assert.Equal(2, again.Core.FormatLevel.Level);
    }

    [Fact]
    public void A_lost_level_file_is_written_again()
    {
        Open(newest: 1).Dispose();
        using (var newer = Open(newest: 2))
        {
            newer.Run(EncodeLevel(2));
            newer.Flush();
        }

        _disk.Delete(LevelFile);
        Assert.Throws<DataFormatException>(() => Open(newest: 1));
        Assert.True(_disk.Exists(LevelFile));
    }

    [Fact]
    public void A_node_refuses_requests_once_the_cluster_raised_the_level_beyond_that_of_its_program()
    {
        using (var node = Open(newest: 1))
        {
            _ = node.Consensus.ProposeAsync(EncodeLevel(2), CancellationToken.None).AsTask();
            node.Commit();
            Assert.Contains("install version 0.9.2", node.Consensus.Refusal?.Message, StringComparison.Ordinal);
        }

        Assert.Contains(
            "install version 0.9.2",
            Assert.Throws<DataFormatException>(() => Open(newest: 1)).Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_new_node_starts_at_the_newest_level_and_a_joining_node_at_the_oldest()
    {
        using (var alone = Open(newest: 2))
        {
            Assert.Equal(2, alone.Core.FormatLevel.Level);
        }

        Assert.Contains(
            $"install version {FormatLevel.ProgramVersion} or a newer one",
            Assert.Throws<DataFormatException>(() => Open(newest: 1)).Message,
            StringComparison.Ordinal
        );
        using var joining = SteppedNode.Open(
            new SimulatedDisk("/data"),
            SteppedNode.Options("/data") with
            {
                NewestFormatLevel = 2,
                HasPeers = true,
            }
        );
        Assert.Equal(1, joining.Core.FormatLevel.Level);
    }

    [Theory]
    [InlineData("rookery format level 3 0.9.3\n", "is damaged: its checksum does not match")]
    [InlineData("rookery format level 3 0.9.3\ncheck 00000000\n", "is damaged: its checksum does not match")]
    [InlineData("rookery format level 2 0.1.0\ncheck 6d6c5f4", "is damaged: its checksum does not match")]
    [InlineData("", "is empty, so")]
    public void A_damaged_level_file_is_reported(string content, string trouble)
    {
        Open(newest: 1).Dispose();
        using (var file = _disk.Open(LevelFile, DiskOpen.CreateNew))
        {
            file.Write(Encoding.ASCII.GetBytes(content), 0);
        }

        string message = Assert.Throws<DataFormatException>(() => Open(newest: 1)).Message;
        Assert.StartsWith($"/data/format-level {trouble}", message, StringComparison.Ordinal);
        Assert.DoesNotContain("was written by a newer version", message, StringComparison.Ordinal);

        // The advice holds: without the file, the node starts with its data.
        _disk.Delete(LevelFile);
        Open(newest: 1).Dispose();
    }

    [Fact]
    public void A_level_file_of_another_form_was_written_by_a_newer_version()
    {
        Open(newest: 1).Dispose();
        const string Text = "rookery format levels 7 to 9\n";
        using (var file = _disk.Open(LevelFile, DiskOpen.CreateNew))
        {
            file.Write(Encoding.ASCII.GetBytes(Text + DataDirectory.CheckLine(Text)), 0);
        }

        Assert.StartsWith(
            "/data/format-level was written by a newer version of Rookery",
            Assert.Throws<DataFormatException>(() => Open(newest: 1)).Message,
            StringComparison.Ordinal
        );
    }

    /// <summary>Encodes a command that raises the level; version 0.9.2 is the first that knows it.</summary>
    private static CommandBuffer EncodeLevel(int level)
    {
        using var writer = new ClusterRecordWriter();
        writer.Set(FormatLevel.RecordKey, new FormatLevel(level, "0.9.2").ToRecord());
        return writer.Complete();
    }

    private SteppedNode Open(int newest) =>
        SteppedNode.Open(_disk, SteppedNode.Options("/data") with { NewestFormatLevel = newest });

    /// <summary>Returns the hash of each file of the data directory, by path.</summary>
    private SortedDictionary<string, string> HashFiles()
    {
        var contents = new SortedDictionary<string, string>(StringComparer.Ordinal);
        foreach (string directory in (string[])["/data", "/data/storage", "/data/journal"])
        {
            foreach (string name in _disk.List(directory).Where(static name => name is not ("storage" or "journal")))
            {
                using var file = _disk.Open($"{directory}/{name}", DiskOpen.Read);
                byte[] bytes = new byte[file.Length];
                file.Read(bytes, offset: 0);
                contents.Add(
                    $"{directory}/{name}",
                    Convert.ToHexString(System.Security.Cryptography.SHA256.HashData(bytes))
                );
            }
        }

        return contents;
    }
}
