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

    /// <summary>Returns a sample by its name with labels, as /metrics prints them; null if it is missing.</summary>
    public double? Of(string name) => _values.TryGetValue(name, out double value) ? value : null;

    /// <summary>Returns the sum of the samples of a name; 0 if there are none.</summary>
    /// <param name="name">The name, without labels.</param>
    /// <param name="labels">Returns whether a sample with this name and these labels counts; null for all.</param>
    public double Sum(string name, Func<string, bool>? labels = null) =>
        _values
            .Where(value =>
                value.Key.StartsWith(name, StringComparison.Ordinal)
                && (value.Key.Length == name.Length || value.Key[name.Length] == '{')
                && (labels is null || labels(value.Key))
            )
            .Sum(static value => value.Value);
}
