using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

namespace Rookery.Architecture.Tests;

/// <summary>The projects of the repository on disk: their source files, project files and built assemblies.</summary>
internal static class Projects
{
    /// <summary>
    /// The projects to which each project may refer, from bottom to top, as in the table of
    /// docs/explanation/architecture.md. Add a new reference there first.
    /// </summary>
    internal static readonly (string Project, string[] MayReferTo)[] AllowedReferences =
    [
        ("Rookery.Platform", []),
        ("Rookery.Raft", []),
        ("Rookery.Json", ["Rookery.Platform"]),
        ("Rookery.Board", ["Rookery.Platform"]),
        ("Rookery.Journal", ["Rookery.Platform"]),
        ("Rookery.Storage", ["Rookery.Platform", "Rookery.Journal"]),
        ("Rookery.Scripting", ["Rookery.Platform", "Rookery.Json"]),
        (
            "Rookery.Documents",
            ["Rookery.Platform", "Rookery.Journal", "Rookery.Json", "Rookery.Scripting", "Rookery.Storage"]
        ),
        (
            "Rookery.Cluster",
            ["Rookery.Platform", "Rookery.Documents", "Rookery.Journal", "Rookery.Raft", "Rookery.Storage"]
        ),
        ("Rookery.Search", ["Rookery.Platform", "Rookery.Json"]),
        (
            "Rookery.Indexing",
            [
                "Rookery.Platform",
                "Rookery.Documents",
                "Rookery.Json",
                "Rookery.Scripting",
                "Rookery.Search",
                "Rookery.Storage",
            ]
        ),
        (
            "Rookery.Queries",
            [
                "Rookery.Platform",
                "Rookery.Documents",
                "Rookery.Indexing",
                "Rookery.Json",
                "Rookery.Scripting",
                "Rookery.Search",
            ]
        ),
        (
            "Rookery.Server",
            [
                "Rookery.Board",
                "Rookery.Platform",
                "Rookery.Documents",
                "Rookery.Indexing",
                "Rookery.Journal",
                "Rookery.Json",
                "Rookery.Queries",
                "Rookery.Scripting",
                "Rookery.Search",
                "Rookery.Storage",
            ]
        ),
        ("Rookery.Redis", ["Rookery.Platform", "Rookery.Documents", "Rookery.Server", "Rookery.Storage"]),
        (
            "Rookery.Hosting",
            [
                "Rookery.Board",
                "Rookery.Cluster",
                "Rookery.Documents",
                "Rookery.Indexing",
                "Rookery.Journal",
                "Rookery.Platform",
                "Rookery.Raft",
                "Rookery.Redis",
                "Rookery.Server",
            ]
        ),
        (
            "Rookery",
            [
                "Rookery.Board",
                "Rookery.Cluster",
                "Rookery.Documents",
                "Rookery.Hosting",
                "Rookery.Journal",
                "Rookery.Json",
                "Rookery.Platform",
                "Rookery.Queries",
                "Rookery.Raft",
                "Rookery.Server",
                "Rookery.Storage",
            ]
        ),
    ];

    /// <summary>The names of the product's projects, from bottom to top.</summary>
    internal static IEnumerable<string> Names => AllowedReferences.Select(static allowed => allowed.Project);

    /// <summary>The names of the projects that are libraries: tests can load their assemblies.</summary>
    internal static IEnumerable<string> Libraries => Names.Where(static project => project is not "Rookery");

    internal static string Root { get; } = FindRoot();

    /// <summary>The directories that contain the product's projects.</summary>
    internal static string[] Sources { get; } = [Path.Join(Root, "server", "src"), Path.Join(Root, "cluster", "src")];

    /// <summary>Every source file of the product, without files that the build generates.</summary>
    internal static IEnumerable<string> SourceFiles => Sources.SelectMany(directory => FilesOf(directory, "*.cs"));

    /// <summary>The directories that contain test projects and their helpers.</summary>
    internal static string[] TestSources { get; } =
    [Path.Join(Root, "server", "tests"), Path.Join(Root, "cluster", "tests")];

    /// <summary>Every source file of the tests, without files that the build generates.</summary>
    internal static IEnumerable<string> TestFiles => TestSources.SelectMany(directory => FilesOf(directory, "*.cs"));

    /// <summary>The directory of a project.</summary>
    internal static string DirectoryOf(string project) =>
        Sources.Select(directory => Path.Join(directory, project)).First(Directory.Exists);

    internal static IEnumerable<string> FilesOf(string directory, string pattern) =>
        Directory
            .EnumerateFiles(directory, pattern, SearchOption.AllDirectories)
            .Where(path => !IsBuilt(Path.GetRelativePath(Root, path)));

    /// <summary>
    /// Returns the names to which a library's assembly refers. Not for the executable's project, because no test can
    /// refer to it.
    /// </summary>
    internal static AssemblyMetadata Read(string project)
    {
        using var file = File.OpenRead(Path.Join(AppContext.BaseDirectory, project + ".dll"));
        using var image = new PEReader(file);
        var metadata = image.GetMetadataReader();
        return new AssemblyMetadata(
            [
                .. metadata.AssemblyReferences.Select(handle =>
                    metadata.GetString(metadata.GetAssemblyReference(handle).Name)
                ),
            ],
            [
                .. metadata
                    .TypeReferences.Select(handle => metadata.GetTypeReference(handle))
                    .Select(type => $"{metadata.GetString(type.Namespace)}.{metadata.GetString(type.Name)}"),
            ]
        );
    }

    private static bool IsBuilt(string path) =>
        path.Split(Path.DirectorySeparatorChar)
            .Any(part => part is "bin" or "obj" or "artifacts" or "node_modules" || part.StartsWith('.'));

    private static string FindRoot()
    {
        string? directory = AppContext.BaseDirectory;
        while (directory is not null && !File.Exists(Path.Join(directory, "Rookery.slnx")))
        {
            directory = Path.GetDirectoryName(directory);
        }

        return directory
            ?? throw new InvalidOperationException("These tests read the sources. Run them in a working copy.");
    }
}

/// <summary>Names that an assembly refers to.</summary>
internal sealed record AssemblyMetadata(string[] Assemblies, string[] Types);
