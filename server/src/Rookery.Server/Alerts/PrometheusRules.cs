using System.Text;

namespace Rookery.Server.Alerts;

/// <summary>
/// Writes the catalogue as a rules file for Prometheus 2.42 or later. `rookery alerts --prometheus` prints it;
/// ansible/roles/monitoring contains a copy.
/// </summary>
public static class PrometheusRules
{
    // ansible-lint allows 160 columns.
    private const int Width = 140;

    /// <summary>Returns the text of the file.</summary>
    public static string Write()
    {
        var text = new StringBuilder(
            "---\n# Written by `rookery alerts --prometheus`: when Prometheus warns. Each alert: "
                + "docs/reference/alerts.md; each metric: docs/reference/metrics.md.\ngroups:\n  - name: rookery\n   "
                + " rules:\n"
        );
        foreach (var alert in AlertCatalogue.All)
        {
            text.Append($"      - alert: {alert.PrometheusName}\n");
            WriteFolded(text, indent: 8, "expr", alert.Expression);
            WriteDuration(text, "for", alert.For);
            WriteDuration(text, "keep_firing_for", alert.KeepFiring);
            text.Append($"        labels:\n          severity: {alert.Severity}\n        annotations:\n");
            WriteFolded(text, indent: 10, "summary", alert.Summary);
            WriteFolded(text, indent: 10, "description", alert.Fix);
            WriteFolded(text, indent: 10, "runbook_url", $"https://{{{{ $labels.instance }}}}{alert.Help}");
        }

        return text.ToString();
    }

    private static void WriteDuration(StringBuilder text, string name, TimeSpan time)
    {
        if (time > TimeSpan.Zero)
        {
            text.Append($"        {name}: {time.TotalMinutes:0}m\n");
        }
    }

    /// <summary>
    /// Writes text as a folded block, which YAML joins again. A block needs no quotes, whatever it contains.
    /// </summary>
    private static void WriteFolded(StringBuilder text, int indent, string name, string value)
    {
        string margin = new(' ', indent + 2);
        text.Append(' ', indent).Append(name).Append(": >-\n").Append(margin);
        int column = margin.Length;
        foreach (string word in value.Split(' '))
        {
            if (column > margin.Length && column + 1 + word.Length > Width)
            {
                text.Append('\n').Append(margin);
                column = margin.Length;
            }
            else if (column > margin.Length)
            {
                text.Append(' ');
                column++;
            }

            text.Append(word);
            column += word.Length;
        }

        text.Append('\n');
    }
}
