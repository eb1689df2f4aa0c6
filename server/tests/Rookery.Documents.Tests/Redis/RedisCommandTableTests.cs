using System.Text;
using Rookery.Documents.Redis;

namespace Rookery.Documents.Tests.Redis;

/// <summary>The table of commands, and the page that shows it.</summary>
public sealed class RedisCommandTableTests
{
    [Fact]
    public void Names_are_found_in_any_casing_and_opcodes_lead_back()
    {
        foreach (var command in RedisCommandTable.Commands)
        {
            byte[] name = Encoding.ASCII.GetBytes(command.Name.ToUpperInvariant());
            Assert.True(RedisCommandTable.TryFind(name, out var found));
            Assert.Same(command, found);
            Assert.False(command.Service == RedisService.Data && command.Opcode == RedisOpcode.None, command.Name);
            Assert.False(command.Service == RedisService.None && command.Opcode != RedisOpcode.None, command.Name);
            Assert.False(command.Opcode != RedisOpcode.None && RedisCommandTable.Find(command.Opcode) is null);
        }

        Assert.False(RedisCommandTable.TryFind("nothing"u8, out _));
        Assert.False(RedisCommandTable.TryFind(""u8, out _));
        Assert.False(RedisCommandTable.TryFind("json\x0Eget"u8, out _)); // differs by the bit of the casing
        Assert.False(RedisCommandTable.TryFind([(byte)'g', (byte)'e', 0xF4], out _));
        Assert.Equal(248, RedisCommandTable.Commands.Count);
        Assert.Equal(
            Enum.GetValues<RedisOpcode>(),
            RedisCommandTable.Commands.Select(static command => command.Opcode).Distinct().Order()
        );
    }

    [Fact]
    public void The_reference_page_lists_every_command()
    {
        string page = File.ReadAllText(Path.Combine(RepositoryRoot(), "docs/reference/redis.md"));
        string expected = Table();
        int at = page.IndexOf("| command |", StringComparison.Ordinal);
        Assert.True(at >= 0, "the page has no table");
        Assert.StartsWith(expected, page[at..], StringComparison.Ordinal);
    }

    /// <summary>The table of the page.</summary>
    private static string Table()
    {
        var table = new StringBuilder("| command | served | group |\n|---|---|---|\n");
        foreach (var command in RedisCommandTable.Commands)
        {
            string served = command.Service == RedisService.None ? "○" : "●";
            table.Append($"| `{command.Name.ToUpperInvariant()}` | {served} | {GroupName(command.Group)} |\n");
        }

        return table.ToString();
    }

    private static string GroupName(RedisCommandGroup group) =>
        group switch
        {
            RedisCommandGroup.PubSub => "publish and subscribe",
            RedisCommandGroup.SortedSet => "sorted sets",
            RedisCommandGroup.HyperLogLog => "HyperLogLog",
            RedisCommandGroup.Json => "JSON",
            _ => group.ToString().ToLowerInvariant(),
        };

    private static string RepositoryRoot()
    {
        var directory = new DirectoryInfo(AppContext.BaseDirectory);
        while (!File.Exists(Path.Combine(directory.FullName, "Rookery.slnx")))
        {
            directory = directory.Parent ?? throw new InvalidOperationException("no repository");
        }

        return directory.FullName;
    }
}
