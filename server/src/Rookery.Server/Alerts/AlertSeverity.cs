namespace Rookery.Server.Alerts;

/// <summary>How soon an alert wants its owner.</summary>
public static class AlertSeverity
{
    /// <summary>Nothing is lost or stands still yet.</summary>
    public const string Warning = "warning";

    /// <summary>Something stands still, or data are in danger.</summary>
    public const string Critical = "critical";
}
