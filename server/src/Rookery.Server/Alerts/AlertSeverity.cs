namespace Rookery.Server.Alerts;

/// <summary>Severities of alerts: how soon the operator must act.</summary>
public static class AlertSeverity
{
    /// <summary>Nothing has failed or been lost yet.</summary>
    public const string Warning = "warning";

    /// <summary>Something has failed, or data are in danger.</summary>
    public const string Critical = "critical";
}
