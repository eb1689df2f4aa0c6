namespace Rookery.Cluster.Membership;

/// <summary>
/// The state of an upgrade. The upgrade is complete when no member supports a newer level than the one in use.
/// </summary>
/// <param name="Level">The level at which data is written.</param>
/// <param name="Members">The newest level of each member.</param>
public sealed record UpgradeState(int Level, IReadOnlyList<MemberLevel> Members);

/// <summary>The newest format level that a member's version supports.</summary>
/// <param name="Tag">The member's tag.</param>
/// <param name="Name">The member's name.</param>
/// <param name="NewestLevel">The level that the member recorded at its last start; null when it has recorded
/// none.</param>
public sealed record MemberLevel(string Tag, string Name, int? NewestLevel);
