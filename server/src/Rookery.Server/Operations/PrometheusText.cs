using System.Globalization;
using System.Text;

namespace Rookery.Server.Operations;

/// <summary>
/// Writes Prometheus' text format, version 0.0.4. Begin a family first, then add its samples. Values are in base units
/// (seconds, bytes).
/// </summary>
internal sealed class PrometheusText
{
    private readonly StringBuilder _text = new(16 << 10);
    private string _family = string.Empty;

    /// <summary>Begins a family of counters.</summary>
    public PrometheusText Counter(string name, string help) => Begin(name, "counter", help);

    /// <summary>Begins a family of gauges.</summary>
    public PrometheusText Gauge(string name, string help) => Begin(name, "gauge", help);

    /// <summary>Begins a family of histograms.</summary>
    public PrometheusText Histogram(string name, string help) => Begin(name, "histogram", help);

    /// <summary>Begins a family of summaries: quantiles with sum and count.</summary>
    public PrometheusText Summary(string name, string help) => Begin(name, "summary", help);

    /// <summary>Adds a sample to the current family.</summary>
    /// <param name="value">The value.</param>
    /// <param name="labels">Names and values of the labels.</param>
    public PrometheusText Sample(double value, params ReadOnlySpan<(string Name, string Value)> labels) =>
        Sample(string.Empty, value, labels);

    /// <summary>Adds a sample whose name is the family's name and a suffix ("_bucket").</summary>
    public PrometheusText Sample(string suffix, double value, params ReadOnlySpan<(string Name, string Value)> labels)
    {
        _text.Append(_family).Append(suffix);
        char separator = '{';
        foreach (var (name, content) in labels)
        {
            _text.Append(separator).Append(name).Append("=\"").Append(Escape(content)).Append('"');
            separator = ',';
        }

        _text
            .Append(labels.IsEmpty ? " " : "} ")
            .Append(value.ToString("R", CultureInfo.InvariantCulture))
            .Append('\n');
        return this;
    }

    public override string ToString() => _text.ToString();

    private static string Escape(string content) =>
        content
            .Replace("\\", @"\\", StringComparison.Ordinal)
            .Replace("\"", "\\\"", StringComparison.Ordinal)
            .Replace("\n", "\\n", StringComparison.Ordinal);

    private PrometheusText Begin(string name, string type, string help)
    {
        _family = name;
        _text
            .Append("# HELP ")
            .Append(name)
            .Append(' ')
            .Append(help)
            .Append("\n# TYPE ")
            .Append(name)
            .Append(' ')
            .Append(type)
            .Append('\n');
        return this;
    }
}
