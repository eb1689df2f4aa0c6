namespace Rookery.Server.Alerts;

/// <summary>Something that its owner should know of this node, or of the cluster as this node sees it.</summary>
/// <param name="Name">As in the list of alerts and in Prometheus' rules ("sync_slow").</param>
/// <param name="Severity">"warning" or "critical".</param>
/// <param name="Since">Since when it holds.</param>
/// <param name="Sentence">What is wrong, with its figures.</param>
/// <param name="Fix">What to do.</param>
/// <param name="Help">The page of the manual, a path of this node.</param>
/// <param name="Member">The letter of the other member that it is about; null when it is about the node that says it,
/// or the cluster.</param>
public sealed record ActiveAlert(
    string Name,
    string Severity,
    DateTimeOffset Since,
    string Sentence,
    string Fix,
    string Help,
    string? Member = null
);
