namespace Rookery.Server.Alerts;

/// <summary>An alert that is active on this node, about the node or about the cluster.</summary>
/// <param name="Name">Name in the catalogue and in Prometheus' rules ("sync_slow").</param>
/// <param name="Severity">"warning" or "critical".</param>
/// <param name="Since">When the condition began.</param>
/// <param name="Sentence">What is wrong, with figures.</param>
/// <param name="Fix">What to do.</param>
/// <param name="Help">Path of the alert's section in the manual that this node serves.</param>
/// <param name="Member">Tag of the member that the alert is about; null if it is about this node or the
/// cluster.</param>
public sealed record ActiveAlert(
    string Name,
    string Severity,
    DateTimeOffset Since,
    string Sentence,
    string Fix,
    string Help,
    string? Member = null
);
