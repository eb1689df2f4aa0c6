namespace Rookery.Documents.Nodes;

/// <summary>Reads names of directories that a user gives.</summary>
public static class DirectoryPath
{
    /// <summary>
    /// Returns the absolute path of a directory, without a slash at its end. Shells complete names of directories with
    /// one, and code that compares paths or walks up to a parent would miss the directory.
    /// </summary>
    /// <param name="directory">The name, relative to the current directory unless it is absolute.</param>
    public static string Absolute(string directory) => Path.TrimEndingDirectorySeparator(Path.GetFullPath(directory));
}
