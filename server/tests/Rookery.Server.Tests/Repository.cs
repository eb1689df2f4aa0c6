namespace Rookery.Server.Tests;

/// <summary>The working copy that the tests were built from. Tests compare some of its files with the code.</summary>
internal static class Repository
{
    /// <summary>The path of its root.</summary>
    public static string Root { get; } = Find();

    private static string Find()
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
