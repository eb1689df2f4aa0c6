namespace Rookery.Documents;

/// <summary>What time it is for a cluster.</summary>
/// <param name="UtcTicks">UTC ticks; 0 when it is not known.</param>
/// <param name="IsSure">Whether nothing speaks against it. While it is in doubt, nothing may expire.</param>
public readonly record struct ClusterTime(long UtcTicks, bool IsSure);
