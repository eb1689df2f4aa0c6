namespace Rookery.Documents.Apply;

/// <summary>Where a frame stands in the log.</summary>
/// <param name="Index">Its index.</param>
/// <param name="Term">The term of the leader that made it.</param>
/// <param name="OperationsBefore">Operations in all frames before it.</param>
/// <param name="OperationCount">Operations in it.</param>
public readonly record struct FramePosition(long Index, long Term, long OperationsBefore, int OperationCount);
