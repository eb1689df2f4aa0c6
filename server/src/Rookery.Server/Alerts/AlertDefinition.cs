using System.Text;

namespace Rookery.Server.Alerts;

/// <summary>
/// Definition of one alert: how this node detects it, how Prometheus detects it, and what to do.
/// docs/reference/alerts.md describes all alerts.
/// </summary>
public sealed record AlertDefinition
{
    /// <summary>Page of the manual with a section for each alert.</summary>
    public const string Page = "/help/reference/alerts.md";

    /// <summary>Name of the alert ("sync_slow").</summary>
    public required string Name { get; init; }

    /// <summary>One of <see cref="AlertSeverity"/>.</summary>
    public required string Severity { get; init; }

    /// <summary>The condition in PromQL, over the metrics of docs/reference/metrics.md.</summary>
    public required string Expression { get; init; }

    /// <summary>How long the condition must hold until the alert is active.</summary>
    public TimeSpan For { get; init; }

    /// <summary>
    /// How long the condition must be absent until the alert ends. A condition that comes and goes within that time is
    /// one alert.
    /// </summary>
    public TimeSpan KeepFiring { get; init; }

    /// <summary>What is wrong, in one sentence without figures.</summary>
    public required string Sentence { get; init; }

    /// <summary>What is wrong, with figures, as a template of Prometheus.</summary>
    public required string Summary { get; init; }

    /// <summary>What to do.</summary>
    public required string Fix { get; init; }

    /// <summary>
    /// Judges the node's own facts: returns what is wrong, with figures, or null if the condition does not hold or is
    /// unknown. The property is null for alerts that only Prometheus can detect from outside, and for alerts with
    /// <see cref="JudgeMembers"/>.
    /// </summary>
    public Func<AlertFacts, string?>? Judge { get; init; }

    /// <summary>
    /// Returns the tags of the members for which the condition holds, each with a sentence. Each such member is one
    /// alert. The property is null for alerts with <see cref="Judge"/>.
    /// </summary>
    public Func<AlertFacts, IEnumerable<(string Member, string Sentence)>>? JudgeMembers { get; init; }

    /// <summary>Whether the alert is about the cluster. Only the leader reports such an alert.</summary>
    public bool IsOfCluster { get; init; }

    /// <summary>Whether nodes detect the alert; otherwise only Prometheus does.</summary>
    public bool IsOwn => Judge is not null || JudgeMembers is not null;

    /// <summary>Path of the alert's section in the manual that every node serves.</summary>
    public string Help => $"{Page}#{Name}";

    /// <summary>
    /// Evaluates the condition: at most one sentence about the node or the cluster, or one for each member.
    /// </summary>
    public IEnumerable<(string? Member, string Sentence)> Evaluate(AlertFacts facts)
    {
        if (Judge is not null)
        {
            if (Judge(facts) is { } sentence)
            {
                return [(null, sentence)];
            }

            return [];
        }

        return JudgeMembers?.Invoke(facts).Select(static finding => ((string?)finding.Member, finding.Sentence)) ?? [];
    }

    /// <summary>Name in Prometheus' rules ("RookerySyncSlow").</summary>
    public string PrometheusName
    {
        get
        {
            var name = new StringBuilder("Rookery");
            foreach (string word in Name.Split('_'))
            {
                name.Append(char.ToUpperInvariant(word[0])).Append(word, 1, word.Length - 1);
            }

            return name.ToString();
        }
    }
}
