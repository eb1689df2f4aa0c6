using Rookery.Server.Operations;

namespace Rookery.Server.Tests;

/// <summary>The text format of /metrics.</summary>
public sealed class PrometheusTextTests
{
    [Fact]
    public void A_family_is_written_with_help_type_and_samples()
    {
        string text = new PrometheusText()
            .Counter("a_total", "What a is.")
            .Sample(2.5)
            .Sample(1, ("kind", "x"), ("quantile", "0.5"))
            .ToString();

        Assert.Equal(
            "# HELP a_total What a is.\n# TYPE a_total counter\na_total 2.5\na_total{kind=\"x\",quantile=\"0.5\"} 1\n",
            text
        );
    }

    [Fact]
    public void Labels_are_escaped()
    {
        string text = new PrometheusText().Gauge("a", "A.").Sample(1, ("path", "a\\b\"c\nd")).ToString();

        Assert.EndsWith("a{path=\"a\\\\b\\\"c\\nd\"} 1\n", text, StringComparison.Ordinal);
    }
}
