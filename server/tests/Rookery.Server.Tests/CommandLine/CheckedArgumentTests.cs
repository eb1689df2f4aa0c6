using System.Text.Json;
using Rookery.Access;
using Rookery.Clusters;

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
        Assert.Null(TokenCommand.DescribeUnlimited([])); // the node names the scopes that a token needs
    }

    [Fact]
    public async Task Names_that_this_machine_cannot_resolve_are_found_before_a_join()
    {
        string[] addresses = ["127.0.0.1:9443", "[::1]:9443", "nohost.invalid:9443"];
        Assert.Equal(["nohost.invalid"], await JoinCommand.UnresolvedAsync(addresses, CancellationToken.None));
    }

    [Theory]
    [InlineData("birds:rw,Birds:ro", "names the database birds twice")]
    [InlineData("birds:ro,admin", "other rights do not limit it")]
    [InlineData("birds", "--access birds is not a right")]
    [InlineData("birds:write", "--access birds:write is not a right")]
    [InlineData("birds:rw,shop:ro", null)]
    [InlineData("admin", null)]
    public void Rights_of_a_certificate_are_checked_by_the_words_of_the_option(string rights, string? sentence)
    {
        string? problem = CertificateCommand.WhyInvalid(rights.Split(','));
        if (sentence is null)
        {
            Assert.Null(problem);
            return;
        }

        Assert.Contains(sentence, problem, StringComparison.Ordinal);
    }
}
