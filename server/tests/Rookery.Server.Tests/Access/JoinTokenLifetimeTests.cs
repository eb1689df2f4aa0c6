using System.Text;
using Rookery.Cluster.Joining;
using Rookery.Hosting;

namespace Rookery.Server.Tests.Access;

/// <summary>The body of a request for a join token.</summary>
public sealed class JoinTokenLifetimeTests
{
    [Theory]
    [InlineData("", null)]
    [InlineData("{}", null)]
    [InlineData("""{"LifetimeSeconds":3600}""", 3600)]
    public void A_body_may_set_the_lifetime(string body, int? seconds)
    {
        var expected = seconds is { } set ? TimeSpan.FromSeconds(set) : JoinTokens.DefaultLife;
        Assert.Equal((expected, null), Parse(body));
    }

    [Theory]
    [InlineData("""{"LifetimeSeconds":3600,"LifetimeSeconds":604800}""", "'LifetimeSeconds' twice")]
    [InlineData("""{"lifetimeSeconds":60}""", "unknown member 'lifetimeSeconds'")]
    [InlineData("""{"LifetimeSeconds":60,"Node":"pi-2"}""", "unknown member 'Node'")]
    [InlineData("""{"LifetimeSeconds":0}""", "'LifetimeSeconds' must be")]
    [InlineData("""{"LifetimeSeconds":null}""", "'LifetimeSeconds' must be")]
    [InlineData("""{"LifetimeSeconds":604801}""", "'LifetimeSeconds' must be")]
    [InlineData("[]", "JSON object")]
    [InlineData("{", "JSON object")]
    public void A_body_with_anything_else_is_refused(string body, string reason) =>
        Assert.Contains(reason, Parse(body).Fault, StringComparison.Ordinal);

    [Fact]
    public void A_body_that_was_not_read_to_its_end_is_refused() =>
        Assert.NotNull(Parse("{}" + new string(' ', 4094)).Fault);

    private static (TimeSpan Lifetime, string? Fault) Parse(string body) =>
        ClusterRoutes.ParseLifetime(Encoding.UTF8.GetBytes(body));
}
