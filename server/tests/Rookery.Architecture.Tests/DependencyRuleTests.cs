using System.Xml.Linq;

namespace Rookery.Architecture.Tests;

/// <summary>The dependency rule of docs/explanation/architecture.md: arrows point down only.</summary>
public sealed class DependencyRuleTests
{
    /// <summary>Types that open or change files by themselves. The simulated disk would not see what they do.</summary>
    private static readonly string[] FileTypes =
    [
        "System.IO.File",
        "System.IO.FileInfo",
        "System.IO.FileStream",
        "System.IO.FileSystemInfo",
        "System.IO.Directory",
        "System.IO.DirectoryInfo",
        "System.IO.DriveInfo",
        "System.IO.RandomAccess",
        "System.IO.FileSystemWatcher",
        "System.IO.MemoryMappedFiles.MemoryMappedFile",
    ];

    public static TheoryData<string> Rooms => [.. House.Rooms];

    public static TheoryData<string> Libraries => [.. House.Rooms[..^1]];

    [Theory]
    [MemberData(nameof(Rooms))]
    public void A_project_refers_only_to_rooms_below_it(string room)
    {
        string project = Path.Join(House.Sources, room, room + ".csproj");
        var references = XDocument
            .Load(project)
            .Descendants("ProjectReference")
            .Select(reference =>
                Path.GetFileNameWithoutExtension(reference.Attribute("Include")!.Value.Replace('\\', '/'))
            );
        Assert.All(
            references.Where(reference => !(room is "Rookery" && reference is "Rookery.Cluster")),
            reference => AssertIsBelow(room, reference)
        );
    }

    /// <summary>
    /// Consensus orders what Documents carries out. How clients speak to a node is not its affair: the program at the
    /// top puts both together.
    /// </summary>
    [Fact]
    public void The_cluster_knows_the_core_and_the_rooms_below_the_server()
    {
        string[] allowed = [.. House.Rooms.TakeWhile(static room => room is not "Rookery.Server"), "Rookery.Raft"];
        Assert.All(
            House
                .Read("Rookery.Cluster")
                .Assemblies.Where(static name => name.StartsWith("Rookery", StringComparison.Ordinal)),
            name => Assert.Contains(name, allowed)
        );
        Assert.Empty(House.Read("Rookery.Cluster").Types.Intersect(FileTypes, StringComparer.Ordinal));
    }

    [Theory]
    [MemberData(nameof(Libraries))]
    public void An_assembly_refers_only_to_rooms_below_it(string room) =>
        Assert.All(
            House.Read(room).Assemblies.Where(name => name.StartsWith("Rookery", StringComparison.OrdinalIgnoreCase)),
            reference => AssertIsBelow(room, reference)
        );

    /// <summary>
    /// So that a run of it can be repeated: no room of ours, no clock, thread, socket or file, no task.
    /// </summary>
    [Fact]
    public void The_consensus_core_knows_nothing_else()
    {
        var core = House.Read("Rookery.Raft");
        Assert.DoesNotContain(core.Assemblies, name => name.StartsWith("Rookery", StringComparison.OrdinalIgnoreCase));
        string[] outside =
        [
            "System.IO.",
            "System.Net.",
            "System.Threading.",
            "System.Diagnostics.Stopwatch",
            "System.DateTime",
            "System.TimeProvider",
            "System.Environment",
        ];
        Assert.DoesNotContain(
            core.Types,
            type => Array.Exists(outside, forbidden => type.StartsWith(forbidden, StringComparison.Ordinal))
        );
    }

    [Theory]
    [MemberData(nameof(Libraries))]
    public void Only_the_disk_room_touches_files(string room)
    {
        if (room is not "Rookery.Disk")
        {
            Assert.Empty(House.Read(room).Types.Intersect(FileTypes, StringComparer.Ordinal));
        }
    }

    [Theory]
    [MemberData(nameof(Libraries))]
    public void Only_the_server_knows_HTTP(string room)
    {
        if (room is not "Rookery.Server")
        {
            Assert.DoesNotContain(
                House.Read(room).Assemblies,
                name => name.StartsWith("Microsoft.AspNetCore", StringComparison.Ordinal)
            );
        }
    }

    [Fact]
    public void Every_room_is_known_here()
    {
        var found = Directory
            .EnumerateDirectories(House.Sources)
            .Where(room => Directory.EnumerateFiles(room, "*.csproj").Any())
            .Select(room => Path.GetFileName(room)!);
        Assert.Equal(House.Rooms.ToHashSet(StringComparer.Ordinal), found.ToHashSet(StringComparer.Ordinal));
    }

    [Fact]
    public void Every_project_is_in_the_solution()
    {
        string solution = File.ReadAllText(Path.Join(House.Root, "Rookery.slnx"));
        Assert.All(
            House.FilesOf(House.Root, "*.csproj"),
            project =>
                Assert.Contains($"\"{Path.GetRelativePath(House.Root, project)}\"", solution, StringComparison.Ordinal)
        );
    }

    [Fact]
    public void The_rules_can_fail()
    {
        // This test reads files itself, so its own assembly shows that the search sees them.
        Assert.Contains("System.IO.File", House.Read("Rookery.Architecture.Tests").Types);
        Assert.Contains("Rookery.Disk", House.Read("Rookery.Journal").Assemblies);
        Assert.ThrowsAny<Exception>(() => AssertIsBelow("Rookery.Journal", "Rookery.Storage"));
        Assert.ThrowsAny<Exception>(() => AssertIsBelow("Rookery.Journal", "Rookery.Journal"));
        Assert.ThrowsAny<Exception>(() => AssertIsBelow("Rookery.Server", "rookery"));
    }

    private static void AssertIsBelow(string room, string reference)
    {
        int below = Array.IndexOf(House.Rooms, reference);
        Assert.True(
            below >= 0 && below < Array.IndexOf(House.Rooms, room),
            $"{room} refers to {reference}, which is not below it"
        );
    }
}
