using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

namespace Rookery.Architecture.Tests;

/// <summary>The rooms of the house as they lie on disk: sources, projects and what was built from them.</summary>
internal static class House
{
    /// <summary>
    /// What each room may refer to: the arrows of docs/explanation/architecture.md, from bottom to top. A new arrow is
    /// drawn there first.
    /// </summary>
    internal static readonly (string Room, string[] MayKnow)[] Arrows =
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

    /// <summary>The rooms, from bottom to top.</summary>
    internal static IEnumerable<string> Rooms => Arrows.Select(static arrow => arrow.Room);

    /// <summary>The rooms that are libraries: tests load those.</summary>
    internal static IEnumerable<string> Libraries => Rooms.Where(static room => room is not "Rookery");

    internal static string Root { get; } = FindRoot();

    /// <summary>The directories that rooms stand in.</summary>
    internal static string[] Sources { get; } = [Path.Join(Root, "server", "src"), Path.Join(Root, "cluster", "src")];

    /// <summary>Every source file of the product, without what the build makes.</summary>
    internal static IEnumerable<string> SourceFiles => Sources.SelectMany(directory => FilesOf(directory, "*.cs"));

    /// <summary>The directories that test projects and their helpers stand in.</summary>
    internal static string[] TestSources { get; } =
    [Path.Join(Root, "server", "tests"), Path.Join(Root, "cluster", "tests")];

    /// <summary>Every source file of the tests, without what the build makes.</summary>
    internal static IEnumerable<string> TestFiles => TestSources.SelectMany(directory => FilesOf(directory, "*.cs"));

    /// <summary>The directory of a room.</summary>
    internal static string DirectoryOf(string room) =>
        Sources.Select(directory => Path.Join(directory, room)).First(Directory.Exists);

    internal static IEnumerable<string> FilesOf(string directory, string pattern) =>
        Directory
            .EnumerateFiles(directory, pattern, SearchOption.AllDirectories)
            .Where(path => !IsBuilt(Path.GetRelativePath(Root, path)));

    /// <summary>
    /// What a room's assembly refers to. The program at the top is not among the libraries that tests load: nothing can
    /// refer to it.
    /// </summary>
    internal static RoomMetadata Read(string room)
    {
        using var file = File.OpenRead(Path.Join(AppContext.BaseDirectory, room + ".dll"));
        using var image = new PEReader(file);
        var metadata = image.GetMetadataReader();
        return new RoomMetadata(
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
            ?? throw new InvalidOperationException("These tests read the sources: run them from a working copy.");
    }
}

/// <summary>Names that an assembly refers to.</summary>
internal sealed record RoomMetadata(string[] Assemblies, string[] Types);
