using Rookery.Snmp;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>The lines of /metrics that <c>rookery snmp</c> reads. Another program may have sent them.</summary>
public sealed class MetricSamplesTests
{
    [Theory]
    [InlineData("x{ 1")]
    [InlineData("x{a=\"b\" 1")]
    [InlineData("x} {a=\"b\" 1")]
    [InlineData("x{a=\"b\"} y")]
    [InlineData("{")]
    [InlineData(" ")]
    [InlineData("")]
    public void A_line_that_is_no_sample_is_skipped_and_the_others_are_read(string line)
    {
        var samples = MetricSamples.Parse($"# HELP x\nx 2\n{line}\nx{{a=\"b\"}} 3\n");
        Assert.Equal(5, samples.Sum("x"));
        Assert.Equal(["b"], samples.Values("x", "a"));
        Assert.Equal(3, samples.Sum("x", "a=\"b\""));
    }
}
