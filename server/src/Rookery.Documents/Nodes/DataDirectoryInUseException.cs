namespace Rookery.Documents.Nodes;

/// <summary>Thrown if another process has locked a directory of this node.</summary>
/// <param name="directory">The directory.</param>
public sealed class DataDirectoryInUseException(string directory)
    : IOException($"{directory} is in use by another process: stop that first.")
{
    /// <summary>The directory.</summary>
    public string Directory { get; } = directory;
}
