using System.Globalization;

namespace Rookery.Live;

/// <summary>Counters of /metrics, of a node that has no live stream yet.</summary>
internal sealed class MetricsPage
{
    private readonly Dictionary<string, double> _values = new(StringComparer.Ordinal);

    /// <summary>Reads the text format of Prometheus.</summary>
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

    /// <summary>One, by its name and labels; null where it is not told.</summary>
    public double? Of(string name) => _values.TryGetValue(name, out double value) ? value : null;

    /// <summary>The sum of those of a name that a condition holds for.</summary>
    public double Sum(string name, Func<string, bool>? labels = null) =>
        _values
            .Where(value =>
                value.Key.StartsWith(name, StringComparison.Ordinal)
                && (value.Key.Length == name.Length || value.Key[name.Length] == '{')
                && (labels is null || labels(value.Key))
            )
            .Sum(static value => value.Value);
}
