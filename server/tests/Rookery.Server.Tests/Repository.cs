namespace Rookery.Server.Tests;

/// <summary>The working copy that the tests were built from; some of its files must agree with the code.</summary>
internal static class Repository
{
    public static string Root { get; } = Find();

    private static string Find()
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
