namespace Rookery.Server.Alerts;

/// <summary>An alert of another member, as this node was told.</summary>
/// <param name="Node">The member's letter.</param>
/// <param name="Alert">What it says.</param>
public sealed record MemberAlert(string Node, ActiveAlert Alert);
