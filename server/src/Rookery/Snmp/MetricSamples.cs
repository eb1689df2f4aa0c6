using System.Globalization;

namespace Rookery.Snmp;

/// <summary>The samples of one response of /metrics.</summary>
internal sealed class MetricSamples
{
    private readonly Dictionary<string, List<(string Labels, double Value)>> _families = new(StringComparer.Ordinal);

    private MetricSamples(string? reason) => NoSamplesReason = reason;

    /// <summary>Why the node sent no samples, for the object rookerySilence; null if it sent some.</summary>
    public string? NoSamplesReason { get; }

    /// <summary>Creates the result without samples, with its reason.</summary>
    public static MetricSamples None(string reason) => new(reason);

    /// <summary>
    /// Parses the text format of Prometheus. Skips lines that are not samples, because the answer may be of another
    /// program.
    /// </summary>
    public static MetricSamples Parse(string text)
    {
        var samples = new MetricSamples(reason: null);
        foreach (string line in text.Split('\n'))
        {
            int last = line.LastIndexOf(' ');
            if (
                line.StartsWith('#')
                || last < 0
                || !double.TryParse(
                    line.AsSpan(last + 1),
                    NumberStyles.Float,
                    CultureInfo.InvariantCulture,
                    out double value
                )
            )
            {
                continue;
            }

            string name = line[..last];
            string labels = string.Empty;
            if (name.IndexOf('{', StringComparison.Ordinal) is int brace and >= 0)
            {
                int end = name.LastIndexOf('}');
                if (end < brace)
                {
                    continue;
                }

                labels = name[(brace + 1)..end];
                name = name[..brace];
            }

            if (!samples._families.TryGetValue(name, out var family))
            {
                samples._families[name] = family = [];
            }

            family.Add((labels, value));
        }

        return samples;
    }

    /// <summary>Returns the sum of a family's samples that have all of the labels; null if there are none.</summary>
    /// <param name="name">The family.</param>
    /// <param name="labels">Labels that a sample must have, as <c>kind="x"</c>.</param>
    public double? Sum(string name, params string[] labels)
    {
        double[] values = _families.TryGetValue(name, out var family)
            ?
            [
                .. family
                    .Where(sample =>
                        Array.TrueForAll(labels, label => sample.Labels.Contains(label, StringComparison.Ordinal))
                    )
                    .Select(static sample => sample.Value),
            ]
            : [];
        return values.Length == 0 ? null : values.Sum();
    }

    /// <summary>Returns the distinct values of one label of a family, in order.</summary>
    public IEnumerable<string> Values(string name, string label)
    {
        string prefix = label + "=\"";
        return (_families.TryGetValue(name, out var family) ? family : [])
            .Select(sample => sample.Labels.Split(prefix, 2))
            .Where(static parts => parts.Length == 2)
            .Select(static parts => parts[1].Split('"')[0])
            .Distinct(StringComparer.Ordinal)
            .Order(StringComparer.Ordinal);
    }
}
