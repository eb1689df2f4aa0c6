namespace Rookery.Cluster.Log;

/// <summary>Where entries of the replicated log are on a node, and go from it.</summary>
/// <param name="Memory">The log as the core knows it, with the entries in memory.</param>
/// <param name="Journal">From memory to the node's own journal.</param>
/// <param name="Members">From memory or journal to the other members.</param>
internal sealed record LogReplication(ReplicatedLog Memory, JournalWriter Journal, EntrySender Members);
