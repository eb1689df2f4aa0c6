namespace Rookery.Journal;

/// <summary>An entry or truncation that recovery read, without its payload.</summary>
/// <param name="Type">Type of an entry, or <see cref="FrameType.Truncation"/>.</param>
/// <param name="Index">Index of the entry; of a truncation the last index that remains.</param>
/// <param name="Term">Term of the entry, or at the truncation's index.</param>
/// <param name="OperationsBefore">Number of operations in all earlier frames.</param>
/// <param name="OperationCount">Number of operations in the entry.</param>
/// <param name="PayloadBytes">Length of the payload.</param>
/// <param name="Configuration">The payload, if the entry is a configuration; otherwise empty.</param>
public readonly record struct RecoveredEntry(
    FrameType Type,
    long Index,
    long Term,
    long OperationsBefore,
    int OperationCount,
    int PayloadBytes,
    ReadOnlyMemory<byte> Configuration
);
