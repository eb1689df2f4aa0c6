namespace Rookery.Cluster.Log;

/// <summary>The parts that hold and move entries of the replicated log on one node.</summary>
/// <param name="Memory">The log as the core knows it, with the cached entries.</param>
/// <param name="Journal">Writes cached entries to the node's journal.</param>
/// <param name="Members">Sends entries from the cache or the journal to the other members.</param>
internal sealed record LogReplication(ReplicatedLog Memory, JournalWriter Journal, EntrySender Members);
