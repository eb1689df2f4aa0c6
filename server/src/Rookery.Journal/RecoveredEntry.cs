namespace Rookery.Journal;

/// <summary>What opening read of an entry, or of a truncation: all but its payload.</summary>
/// <param name="Type">A replicated type, or <see cref="FrameType.Truncation"/>.</param>
/// <param name="Index">Its index; of a truncation the last that stays.</param>
/// <param name="Term">Its term.</param>
/// <param name="OperationsBefore">Operations in all frames before it.</param>
/// <param name="OperationCount">Operations in it.</param>
/// <param name="PayloadBytes">Bytes of its payload.</param>
/// <param name="Configuration">The payload of a configuration; empty for others.</param>
public readonly record struct RecoveredEntry(
    FrameType Type,
    long Index,
    long Term,
    long OperationsBefore,
    int OperationCount,
    int PayloadBytes,
    ReadOnlyMemory<byte> Configuration
);
