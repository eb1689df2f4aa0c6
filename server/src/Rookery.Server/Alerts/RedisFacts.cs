namespace Rookery.Server.Alerts;

/// <summary>What went wrong for Redis clients of this node in the last five minutes.</summary>
/// <param name="UnknownOutcomes">Commands whose outcome the node could not tell.</param>
/// <param name="Refused">Connections refused because there were too many.</param>
/// <param name="SlowClients">Clients disconnected because they did not read their replies or messages.</param>
/// <param name="MaxClients">Most connections that the node serves at once.</param>
public sealed record RedisFacts(long UnknownOutcomes, long Refused, long SlowClients, int MaxClients);
