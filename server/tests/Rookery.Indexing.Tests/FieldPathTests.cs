using Rookery.Indexing.Values;

namespace Rookery.Indexing.Tests;

/// <summary>The path of a field, as queries and indexes name it.</summary>
public sealed class FieldPathTests
{
    [Fact]
    public void A_path_is_written_as_RavenDB_writes_it() =>
        Assert.Equal(
            "lines[].product.name",
            new FieldPath([new("lines", true), new("product", false), new("name", false)], Position: 0).ToString()
        );

    [Fact]
    public void Paths_are_equal_at_any_position()
    {
        var path = new FieldPath([new("address", false), new("city", false)], Position: 4);
        Assert.Equal(path, new FieldPath([new("address", false), new("city", false)], Position: 90));
        Assert.Equal(
            path.GetHashCode(),
            new FieldPath([new("address", false), new("city", false)], Position: 90).GetHashCode()
        );
        Assert.NotEqual(path, new FieldPath([new("address", true), new("city", false)], Position: 4));
    }
}
