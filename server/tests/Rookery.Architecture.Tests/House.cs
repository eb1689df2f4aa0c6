using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

namespace Rookery.Architecture.Tests;

/// <summary>The rooms of the house as they lie on disk: sources, projects and what was built from them.</summary>
internal static class House
{
    /// <summary>The rooms of the server from bottom to top. A room may know those before it.</summary>
    internal static readonly string[] Rooms =
    [
        "Rookery.Disk",
        "Rookery.Board",
        "Rookery.Journal",
        "Rookery.Storage",
        "Rookery.Documents",
        "Rookery.Indexing",
        "Rookery.Server",
        "Rookery",
    ];

    internal static string Root { get; } = FindRoot();

    internal static string Sources => Path.Join(Root, "server", "src");

    /// <summary>Every source file of the server, without what the build makes.</summary>
    internal static IEnumerable<string> SourceFiles => FilesOf(Sources, "*.cs");

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
