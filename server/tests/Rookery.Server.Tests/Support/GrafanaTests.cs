using System.Text.Json;

namespace Rookery.Server.Tests.Support;

/// <summary>The documents about metrics name exactly the metrics that a node exports.</summary>
public sealed class GrafanaTests
{
    /// <summary>Checks docs/reference/grafana-rookery.json, which Grafana imports.</summary>
    [Fact]
    public async Task Every_metric_in_the_Grafana_dashboard_is_exported_by_a_node()
    {
        using var file = JsonDocument.Parse(
            await File.ReadAllTextAsync(Path.Join(Repository.Root, "docs/reference/grafana-rookery.json"))
        );
        var panels = file
            .RootElement.GetProperty("panels")
            .EnumerateArray()
            .Where(static panel => panel.GetProperty("type").GetString() is not "row")
            .ToArray();
        Assert.True(panels.Length >= 20, "the panels of the dashboard are found");
        Assert.Equal(
            panels.Length,
            panels.Select(static panel => panel.GetProperty("id").GetInt32()).Distinct().Count()
        );
        string[] expressions =
        [
            .. panels
                .SelectMany(static panel => panel.GetProperty("targets").EnumerateArray())
                .Select(static target => target.GetProperty("expr").GetString()!),
        ];
        var exported = await KnownMetrics.ReadAsync();
        string[] used = [.. expressions.SelectMany(KnownMetrics.In).Distinct(StringComparer.Ordinal)];
        Assert.True(used.Length > 20, "the metrics in the expressions are found");
        Assert.DoesNotContain(used, name => !exported.Contains(name));
        Assert.Equal(
            ["datasource", "instance"],
            file.RootElement.GetProperty("templating")
                .GetProperty("list")
                .EnumerateArray()
                .Select(static variable => variable.GetProperty("name").GetString())
        );
    }

    /// <summary>Checks docs/reference/metrics.md.</summary>
    [Fact]
    public async Task The_manual_lists_every_exported_metric()
    {
        string page = await File.ReadAllTextAsync(Path.Join(Repository.Root, "docs/reference/metrics.md"));
        string[] unlisted =
        [
            .. (await KnownMetrics.ReadAsync())
                .Where(name => !page.Contains($"`{KnownMetrics.FamilyOf(name)}`", StringComparison.Ordinal))
                .Order(StringComparer.Ordinal),
        ];
        Assert.Empty(unlisted);
    }
}
