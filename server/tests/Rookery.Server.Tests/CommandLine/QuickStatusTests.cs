namespace Rookery.Server.Tests.CommandLine;

/// <summary>The options that the fast path of <c>rookery status</c> handles.</summary>
public sealed class QuickStatusTests
{
    [Theory]
    [InlineData("--json", null, true)]
    [InlineData("--url http://127.0.0.1:1", "http://127.0.0.1:1", true)]
    [InlineData("--json --url http://127.0.0.1:1", "http://127.0.0.1:1", true)]
    [InlineData("--url", null, false)]
    [InlineData("--url ", null, false)] // an environment variable that is not set
    [InlineData("--token-file x", null, false)]
    public void An_address_that_is_empty_is_left_to_the_command(string options, string? expected, bool isHandled)
    {
        Assert.Equal(isHandled, QuickStatus.TryReadOptions(options.Split(' '), out string? url, out _));
        Assert.Equal(expected, url);
    }
}
