using Rookery.Documents.Nodes;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>Directories as users name them.</summary>
public sealed class DirectoryPathTests
{
    [Theory]
    [InlineData("/srv/rookery", "/srv/rookery")]
    [InlineData("/srv/rookery/", "/srv/rookery")]
    [InlineData("/srv//x/../rookery//", "/srv/rookery")]
    [InlineData("/", "/")]
    public void An_absolute_path_has_no_slash_at_its_end(string directory, string expected) =>
        Assert.Equal(expected, DirectoryPath.Absolute(directory));

    [Fact]
    public void A_relative_name_is_taken_from_the_current_directory() =>
        Assert.Equal(Path.Combine(Environment.CurrentDirectory, "data"), DirectoryPath.Absolute("data/"));
}
