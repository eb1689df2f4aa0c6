namespace Rookery.Server.Alerts;

/// <summary>An alert that another member reported to this node.</summary>
/// <param name="Node">Tag of the member.</param>
/// <param name="Alert">The alert.</param>
public sealed record MemberAlert(string Node, ActiveAlert Alert);
