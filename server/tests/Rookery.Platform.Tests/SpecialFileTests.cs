namespace Rookery.Platform.Tests;

/// <summary>Paths that lead to special files, such as devices.</summary>
public sealed class SpecialFileTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Devices_are_special_files_also_through_links_and_ordinary_files_are_not()
    {
        string file = Path.Combine(_directory.Path, "file");
        string link = Path.Combine(_directory.Path, "link");
        string dangling = Path.Combine(_directory.Path, "dangling");
        File.WriteAllText(file, "x");
        File.CreateSymbolicLink(link, "/dev/null");
        File.CreateSymbolicLink(dangling, "nowhere");
        Assert.True(SpecialFile.Is("/dev/null"));
        Assert.True(SpecialFile.Is(link));
        Assert.False(SpecialFile.Is(file));
        Assert.False(SpecialFile.Is(dangling));
        Assert.False(SpecialFile.Is(_directory.Path));
        Assert.False(SpecialFile.Is(Path.Combine(_directory.Path, "missing")));
    }
}
