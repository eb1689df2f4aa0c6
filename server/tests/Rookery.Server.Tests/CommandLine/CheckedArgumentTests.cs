using System.Text.Json;
using Rookery.Access;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>Arguments of commands that a node need not be asked about, and rights as commands show them.</summary>
public sealed class CheckedArgumentTests
{
    [Theory]
    [InlineData("""{"Scopes":["read","write"],"Databases":null}""", "read,write")]
    [InlineData("""{"Scopes":["read","write"],"Databases":["a","b"]}""", "read,write in a,b")]
    [InlineData("""{"Scopes":["read","metrics"],"Databases":["a"]}""", "metrics, read in a")]
    [InlineData("""{"Scopes":["admin"],"Databases":["a"]}""", "admin")]
    [InlineData("""{"Scopes":["read","admin"],"Databases":["a"]}""", "read,admin")]
    [InlineData("""{"Scopes":["metrics"],"Databases":["a"]}""", "metrics")]
    public void Databases_are_shown_only_beside_the_scopes_that_they_limit(string token, string shown)
    {
        using var json = JsonDocument.Parse(token);
        Assert.Equal(shown, TokenCommand.DescribeRights(json.RootElement));
    }

    [Theory]
    [InlineData("admin", "does not limit the scope admin")]
    [InlineData("read,admin", "does not limit the scope admin")]
    [InlineData("metrics", "does not limit the scope metrics")]
    public void A_database_that_would_limit_no_scope_is_refused_before_a_node_is_asked(string scopes, string sentence)
    {
        Assert.Contains(sentence, TokenCommand.DescribeUnlimited(scopes.Split(',')), StringComparison.Ordinal);
        Assert.Null(TokenCommand.DescribeUnlimited(["read", "metrics"]));
    }
}
