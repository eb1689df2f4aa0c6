namespace Rookery.Documents.Apply;

/// <summary>Position of a frame in the log.</summary>
/// <param name="Index">The frame's index.</param>
/// <param name="Term">Term of the leader that created the frame.</param>
/// <param name="OperationsBefore">Number of operations in all earlier frames.</param>
/// <param name="OperationCount">Number of operations in this frame.</param>
public readonly record struct FramePosition(long Index, long Term, long OperationsBefore, int OperationCount);
