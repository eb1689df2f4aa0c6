using System.Text;

namespace Rookery.Server.Alerts;

/// <summary>
/// One thing that may be wrong: how this node finds it out, how Prometheus does, and what to do.
/// docs/reference/alerts.md has them all.
/// </summary>
public sealed record AlertDefinition
{
    /// <summary>The page on which each alert has a section of its name.</summary>
    public const string Page = "/help/reference/alerts.md";

    /// <summary>Its name ("sync_slow").</summary>
    public required string Name { get; init; }

    /// <summary>One of <see cref="AlertSeverity"/>.</summary>
    public required string Severity { get; init; }

    /// <summary>When it holds, in PromQL over docs/reference/metrics.md.</summary>
    public required string Expression { get; init; }

    /// <summary>How long it must hold before it is told.</summary>
    public TimeSpan For { get; init; }

    /// <summary>How long it must not hold before it is over: what comes and goes within minutes is one alert.</summary>
    public TimeSpan KeepFiring { get; init; }

    /// <summary>What is wrong, in one sentence without figures.</summary>
    public required string Sentence { get; init; }

    /// <summary>The same with figures, as a template of Prometheus.</summary>
    public required string Summary { get; init; }

    /// <summary>What to do.</summary>
    public required string Fix { get; init; }

    /// <summary>
    /// What is wrong by a node's own statistics, with figures; null when it does not hold or is not known. Null itself
    /// for what only Prometheus can see from outside, and where <see cref="JudgeMembers"/> does it.
    /// </summary>
    public Func<AlertFacts, string?>? Judge { get; init; }

    /// <summary>
    /// The same of what is an alert of its own for each member that it holds for, with their letters.
    /// </summary>
    public Func<AlertFacts, IEnumerable<(string Member, string Sentence)>>? JudgeMembers { get; init; }

    /// <summary>Whether it is of the cluster, and the leader's to say.</summary>
    public bool IsOfCluster { get; init; }

    /// <summary>Whether a node sees it by itself.</summary>
    public bool IsOwn => Judge is not null || JudgeMembers is not null;

    /// <summary>Where the manual explains it, a path of every node.</summary>
    public string Help => $"{Page}#{Name}";

    /// <summary>What it finds: at most one sentence of this node or of the cluster, or one for each member.</summary>
    public IEnumerable<(string? Member, string Sentence)> Find(AlertFacts facts) =>
        Judge is not null
            ? Judge(facts) is { } sentence
                ? [(null, sentence)]
                : []
            : JudgeMembers?.Invoke(facts).Select(static one => ((string?)one.Member, one.Sentence)) ?? [];

    /// <summary>Its name among Prometheus' rules ("RookerySyncSlow").</summary>
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
