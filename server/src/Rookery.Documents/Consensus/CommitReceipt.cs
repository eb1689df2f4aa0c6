namespace Rookery.Documents.Consensus;

/// <summary>
/// Which members had a write on their disks when it was committed, for a client that asked
/// (<see cref="Commands.CommandBuffer.WantsReceipt"/>).
/// </summary>
/// <param name="JournalBytes">Bytes that each member's journal writes for the entry, in whole blocks of 4 KiB; when
/// others follow in the same write, the last block is shared with them.</param>
/// <param name="Commands">The commands of clients that share the entry.</param>
/// <param name="Synced">The members, in the order in which the leader learned of them.</param>
public sealed record CommitReceipt(long JournalBytes, int Commands, IReadOnlyList<SyncedMember> Synced);

/// <summary>A member that had synced a write.</summary>
/// <param name="Tag">Its letter.</param>
/// <param name="Microseconds">From the moment at which the leader gave the write its place until it learned of the
/// sync: for others with the way there and back.</param>
public readonly record struct SyncedMember(string Tag, long Microseconds);
