namespace Rookery.Storage.Repair;

/// <summary>The rows that another node must send to repair a damaged run.</summary>
/// <param name="File">Path of the damaged file.</param>
/// <param name="Group">The group of tables of the rows.</param>
/// <param name="From">The first key of the damaged range.</param>
/// <param name="ToExclusive">The first key after the damaged range.</param>
/// <param name="LeastSequence">The other node must have applied all operations through this sequence, because the
/// damaged range may contain rows of them.</param>
public sealed record RepairRequest(
    string File,
    byte Group,
    ReadOnlyMemory<byte> From,
    ReadOnlyMemory<byte> ToExclusive,
    long LeastSequence
);

/// <summary>The rows of a range as another node has them, in a run written for this repair.</summary>
/// <param name="Path">Path of the complete file.</param>
/// <param name="Position">Position through which the other node had applied.</param>
public sealed record RepairRows(string Path, ManifestPosition Position);
