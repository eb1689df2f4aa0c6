namespace Rookery.Documents.Nodes;

/// <summary>Reads names of directories that a user gives.</summary>
public static class DirectoryPath
{
    /// <summary>
    /// Returns the absolute path of a directory, without a slash at its end. Shells append a slash when they complete
    /// the name of a directory, and with it code that compares paths or finds the parent would fail.
    /// </summary>
    /// <param name="directory">The name, relative to the current directory unless it is absolute.</param>
    public static string Absolute(string directory) => Path.TrimEndingDirectorySeparator(Path.GetFullPath(directory));
}
