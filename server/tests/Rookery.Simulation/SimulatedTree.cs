using Rookery.Platform;

namespace Rookery.Simulation;

/// <summary>The files and directories of a simulated disk, found by their paths.</summary>
internal sealed class SimulatedTree
{
    private readonly List<SimulatedDirectory> _directories = [];
    private int _lastId;

    /// <summary>An empty tree.</summary>
    internal SimulatedTree()
        : this(new SimulatedDirectory(1), 1) { }

    /// <summary>
    /// Creates the tree below <paramref name="root"/>, whose nodes have numbers up to <paramref name="lastId"/>.
    /// </summary>
    internal SimulatedTree(SimulatedDirectory root, int lastId)
    {
        Root = root;
        _lastId = lastId;
        Collect(root);
    }

    internal SimulatedDirectory Root { get; }

    /// <summary>The directory in the root that is a device of its own, or null.</summary>
    internal string? SecondDevice { get; init; }

    /// <summary>All directories, including deleted ones: after a power cut these may come back.</summary>
    internal IReadOnlyList<SimulatedDirectory> Directories => _directories;

    internal int NextId() => ++_lastId;

    internal SimulatedNode? Find(string path)
    {
        SimulatedNode? node = Root;
        foreach (string name in Parts(path))
        {
            node = (node as SimulatedDirectory)?.Names.GetValueOrDefault(name);
        }

        return node;
    }

    internal SimulatedFile FindFile(string operation, string path) =>
        Find(path) switch
        {
            SimulatedFile file => file,
            SimulatedDirectory => throw new DiskException(operation, path, Errno.IsDirectory),
            _ => throw new DiskException(operation, path, Errno.NoEntry),
        };

    internal SimulatedDirectory FindDirectory(string operation, string path) =>
        Find(path) switch
        {
            SimulatedDirectory directory => directory,
            SimulatedFile => throw new DiskException(operation, path, Errno.NotDirectory),
            _ => throw new DiskException(operation, path, Errno.NoEntry),
        };

    internal (SimulatedDirectory Directory, string Name) FindParent(string operation, string path) =>
        (FindDirectory(operation, Path.GetDirectoryName(path)!), Path.GetFileName(path));

    /// <summary>Makes the directories that a path lacks; <paramref name="add"/> gives each its name.</summary>
    internal void AddDirectories(string path, Action<SimulatedDirectory, string, SimulatedDirectory> add)
    {
        var directory = Root;
        string[] parts = Parts(path);
        for (int i = 0; i < parts.Length; i++)
        {
            if (!directory.Names.TryGetValue(parts[i], out var node))
            {
                var added = new SimulatedDirectory(NextId())
                {
                    IsOnSecondDevice =
                        directory.IsOnSecondDevice
                        || (i == 0 && string.Equals(parts[0], SecondDevice, StringComparison.Ordinal)),
                };
                _directories.Add(added);
                add(directory, parts[i], added);
                node = added;
            }

            directory =
                node as SimulatedDirectory
                ?? throw new DiskException(
                    "create the directory",
                    path,
                    i == parts.Length - 1 ? Errno.Exists : Errno.NotDirectory
                );
        }
    }

    internal IReadOnlyList<string> FilePaths()
    {
        var paths = new List<string>();
        CollectFiles(Root, string.Empty, paths);
        paths.Sort(StringComparer.Ordinal);
        return paths;
    }

    private static string[] Parts(string path)
    {
        Invariant.Holds(Path.IsPathRooted(path), "paths are absolute");
        return path.Split('/', StringSplitOptions.RemoveEmptyEntries);
    }

    private static void CollectFiles(SimulatedDirectory directory, string path, List<string> paths)
    {
        foreach (var (name, node) in directory.Names)
        {
            if (node is SimulatedDirectory inner)
            {
                CollectFiles(inner, $"{path}/{name}", paths);
            }
            else
            {
                paths.Add($"{path}/{name}");
            }
        }
    }

    private void Collect(SimulatedDirectory directory)
    {
        _directories.Add(directory);
        foreach (var inner in directory.Names.Values.OfType<SimulatedDirectory>())
        {
            Collect(inner);
        }
    }
}
