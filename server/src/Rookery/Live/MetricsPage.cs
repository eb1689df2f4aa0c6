using System.Globalization;

namespace Rookery.Live;

/// <summary>The samples of /metrics, for a node without a live stream.</summary>
internal sealed class MetricsPage
{
    private readonly Dictionary<string, double> _values = new(StringComparer.Ordinal);

    /// <summary>Parses the text format of Prometheus.</summary>
    public static MetricsPage Read(string text)
    {
        var page = new MetricsPage();
        foreach (string line in text.Split('\n', StringSplitOptions.RemoveEmptyEntries))
        {
            int space = line.LastIndexOf(' ');
            if (
                line[0] != '#'
                && space > 0
                && double.TryParse(
                    line.AsSpan(space + 1),
                    NumberStyles.Float,
                    CultureInfo.InvariantCulture,
                    out double value
                )
            )
            {
                page._values[line[..space]] = value;
            }
        }

        return page;
    }

    /// <summary>Returns a sample by its name with labels; null if it is missing.</summary>
    public double? Of(string name) => _values.TryGetValue(name, out double value) ? value : null;

    /// <summary>Returns the sum of the samples of a name whose labels satisfy a condition; null means all.</summary>
    public double Sum(string name, Func<string, bool>? labels = null) =>
        _values
            .Where(value =>
                value.Key.StartsWith(name, StringComparison.Ordinal)
                && (value.Key.Length == name.Length || value.Key[name.Length] == '{')
                && (labels is null || labels(value.Key))
            )
            .Sum(static value => value.Value);
}
