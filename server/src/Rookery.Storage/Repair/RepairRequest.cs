namespace Rookery.Storage.Repair;

/// <summary>
/// What has to be fetched from another node so that a damaged run can be written again without the damage.
/// </summary>
/// <param name="File">The damaged file.</param>
/// <param name="Group">The group of tables whose rows are wanted.</param>
/// <param name="From">The first key that is in doubt.</param>
/// <param name="ToExclusive">No key at or above it is in doubt.</param>
/// <param name="LeastSequence">The other node must have applied through this sequence: the damaged part may hold rows
/// up to it.</param>
public sealed record RepairRequest(
    string File,
    byte Group,
    ReadOnlyMemory<byte> From,
    ReadOnlyMemory<byte> ToExclusive,
    long LeastSequence
);

/// <summary>The rows of a range as another node has them, in a run that was written for this alone.</summary>
/// <param name="Path">The file, complete.</param>
/// <param name="Position">What the other node had applied when it wrote them.</param>
public sealed record RepairRows(string Path, ManifestPosition Position);
