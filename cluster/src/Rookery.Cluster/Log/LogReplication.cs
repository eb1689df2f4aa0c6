namespace Rookery.Cluster.Log;

/// <summary>Groups the parts that hold, write and send log entries on this node, to pass them together.</summary>
/// <param name="Memory">The log as the core knows it, with the cached entries.</param>
/// <param name="Journal">Writes cached entries to the node's journal.</param>
/// <param name="Members">Sends entries from the cache or the journal to the other members.</param>
internal sealed record LogReplication(ReplicatedLog Memory, JournalWriter Journal, EntrySender Members);
