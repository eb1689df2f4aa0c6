namespace Rookery.Documents.Apply;

/// <summary>Position of an entry in the log.</summary>
/// <param name="Index">The entry's index.</param>
/// <param name="Term">Term of the leader that created the entry.</param>
/// <param name="OperationsBefore">Number of operations in all earlier entries.</param>
/// <param name="OperationCount">Number of operations in this entry.</param>
public readonly record struct LogEntryPosition(long Index, long Term, long OperationsBefore, int OperationCount);
