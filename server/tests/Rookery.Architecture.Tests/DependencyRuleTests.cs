using System.Xml.Linq;

namespace Rookery.Architecture.Tests;

/// <summary>The rule of docs/explanation/architecture.md: a project refers only to projects below it.</summary>
public sealed class DependencyRuleTests
{
    /// <summary>Types that open or change files without <c>IDisk</c>, so that a simulated disk cannot replace the real
    /// one.</summary>
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

    public static TheoryData<string> ProjectNames => [.. Projects.Names];

    public static TheoryData<string> Libraries => [.. Projects.Libraries];

    [Theory]
    [MemberData(nameof(ProjectNames))]
    public void A_project_file_refers_only_to_allowed_projects(string project) =>
        Assert.All(
            XDocument
                .Load(Path.Join(Projects.DirectoryOf(project), project + ".csproj"))
                .Descendants("ProjectReference")
                .Select(reference =>
                    Path.GetFileNameWithoutExtension(reference.Attribute("Include")!.Value.Replace('\\', '/'))
                ),
            reference => AssertMayReferTo(project, reference)
        );

    [Theory]
    [MemberData(nameof(Libraries))]
    public void An_assembly_refers_only_to_allowed_projects(string project) =>
        Assert.All(
            Projects
                .Read(project)
                .Assemblies.Where(name => name.StartsWith("Rookery", StringComparison.OrdinalIgnoreCase)),
            reference => AssertMayReferTo(project, reference)
        );

    [Fact]
    public void Each_project_refers_only_to_projects_below_it() =>
        Assert.All(
            Projects.AllowedReferences.Select(static (allowed, place) => (allowed.MayReferTo, place)),
            allowed => Assert.All(allowed.MayReferTo, known => Assert.InRange(Place(known), 0, allowed.place - 1))
        );

    /// <summary>
    /// Without them a simulation of the core can be repeated exactly.
    /// </summary>
    [Fact]
    public void The_consensus_core_uses_no_other_project_clock_thread_or_file()
    {
        var core = Projects.Read("Rookery.Raft");
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
    public void Only_Platform_and_Hosting_touch_files(string project)
    {
        // Hosting reads the files that the node's settings name, and files of the machine.
        if (project is not ("Rookery.Platform" or "Rookery.Hosting"))
        {
            Assert.Empty(Projects.Read(project).Types.Intersect(FileTypes, StringComparer.Ordinal));
        }
    }

    [Theory]
    [MemberData(nameof(Libraries))]
    public void Only_Server_Redis_Hosting_and_Cluster_use_HTTP(string project)
    {
        if (project is not ("Rookery.Server" or "Rookery.Redis" or "Rookery.Cluster" or "Rookery.Hosting"))
        {
            Assert.DoesNotContain(
                Projects.Read(project).Assemblies,
                name => name.StartsWith("Microsoft.AspNetCore", StringComparison.Ordinal)
            );
        }
    }

    [Fact]
    public void Every_project_of_the_product_has_a_rule()
    {
        var found = Directory
            .EnumerateDirectories(Projects.Sources[0])
            .Concat(Directory.EnumerateDirectories(Projects.Sources[1]))
            .Where(project => Directory.EnumerateFiles(project, "*.csproj").Any())
            .Select(project => Path.GetFileName(project)!);
        Assert.Equal(Projects.Names.ToHashSet(StringComparer.Ordinal), found.ToHashSet(StringComparer.Ordinal));
    }

    [Fact]
    public void Every_project_is_in_the_solution()
    {
        string solution = File.ReadAllText(Path.Join(Projects.Root, "Rookery.slnx"));
        Assert.All(
            Projects.FilesOf(Projects.Root, "*.csproj"),
            project =>
                Assert.Contains(
                    $"\"{Path.GetRelativePath(Projects.Root, project)}\"",
                    solution,
                    StringComparison.Ordinal
                )
        );
    }

    [Fact]
    public void The_rules_refuse_forbidden_references()
    {
        // This test reads files itself, so the search must find System.IO.File in its own assembly.
        Assert.Contains("System.IO.File", Projects.Read("Rookery.Architecture.Tests").Types);
        Assert.Contains("Rookery.Platform", Projects.Read("Rookery.Journal").Assemblies);
        Assert.ThrowsAny<Exception>(() => AssertMayReferTo("Rookery.Journal", "Rookery.Storage"));
        Assert.ThrowsAny<Exception>(() => AssertMayReferTo("Rookery.Journal", "Rookery.Board"));
        Assert.ThrowsAny<Exception>(() => AssertMayReferTo("Rookery.Journal", "Rookery.Journal"));
        Assert.ThrowsAny<Exception>(() => AssertMayReferTo("Rookery.Server", "rookery"));
    }

    private static int Place(string project) =>
        Array.FindIndex(
            Projects.AllowedReferences,
            allowed => string.Equals(allowed.Project, project, StringComparison.Ordinal)
        );

    private static void AssertMayReferTo(string project, string reference) =>
        Assert.Contains(reference, Projects.AllowedReferences[Place(project)].MayReferTo);
}
