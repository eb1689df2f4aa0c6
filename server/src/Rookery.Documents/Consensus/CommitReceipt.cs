namespace Rookery.Documents.Consensus;

/// <summary>
/// The members that had synced a write when it was committed, for a client that asked
/// (<see cref="Commands.CommandBuffer.WantsReceipt"/>).
/// </summary>
/// <param name="JournalBytes">Bytes that each member's journal writes for the entry, in whole blocks of 4 KiB. Further
/// entries in the same write share the last block.</param>
/// <param name="Commands">Number of client commands in the entry.</param>
/// <param name="Synced">The members, in the order in which the leader received their acknowledgements.</param>
public sealed record CommitReceipt(long JournalBytes, int Commands, IReadOnlyList<SyncedMember> Synced);

/// <summary>A member that had synced a write.</summary>
/// <param name="Tag">The member's tag, a letter.</param>
/// <param name="Microseconds">Time from the leader's assignment of an index until it learned of the sync; for other
/// members this includes the round trip.</param>
public readonly record struct SyncedMember(string Tag, long Microseconds);
