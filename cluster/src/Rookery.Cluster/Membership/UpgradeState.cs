namespace Rookery.Cluster.Membership;

/// <summary>
/// How far an upgrade is: it has ended when no member knows a newer level than everything is written at.
/// </summary>
/// <param name="Level">What everything is written at.</param>
/// <param name="Members">What each member knows.</param>
public sealed record UpgradeState(int Level, IReadOnlyList<MemberLevel> Members);

/// <summary>The newest format level of a member's program.</summary>
/// <param name="Tag">The member's letter.</param>
/// <param name="Name">The member's name.</param>
/// <param name="NewestLevel">By its own word at its last start; null of who has not said it.</param>
public sealed record MemberLevel(string Tag, string Name, int? NewestLevel);
