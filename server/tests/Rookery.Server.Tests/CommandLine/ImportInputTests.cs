using Rookery.Transfer;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>The input of `rookery import`. Its length and time tell whether an import may continue with it.</summary>
public sealed class ImportInputTests : IDisposable
{
    private static readonly DateTime Written = new(2026, 1, 2, 3, 4, 5, DateTimeKind.Utc);

    private readonly DirectoryInfo _directory = Directory.CreateTempSubdirectory("rookery-import-");

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Length_and_time_are_those_of_the_file_that_is_read(bool isLink)
    {
        string file = Path.Combine(_directory.FullName, "birds.ndjson");
        File.WriteAllText(file, "{\"n\":1}\n");
        File.SetLastWriteTimeUtc(file, Written);
        string link = Path.Combine(_directory.FullName, "link.ndjson");
        File.CreateSymbolicLink(link, file);
        using var input = ImportInput.Open(isLink ? link : file);
        Assert.Equal((8, Written), input.Version);
    }

    public void Dispose() => _directory.Delete(recursive: true);
}
