using Rookery.Documents.Patching;

namespace Rookery.Documents.Commands;

/// <summary>
/// One operation of a <see cref="CommandKind.Batch"/> or <see cref="CommandKind.BulkPut"/>. Spans point into the
/// command.
/// </summary>
public readonly ref struct Operation
{
    /// <summary>What it does.</summary>
    public OperationKind Kind { get; init; }

    /// <summary>Which document.</summary>
    public CommandId Id { get; init; }

    /// <summary>What is expected of it.</summary>
    public ExpectedChangeVector Expected { get; init; }

    /// <summary>Put: what follows the head of the stored value (see <see cref="Stored.StoredDocument"/>).</summary>
    public ReadOnlySpan<byte> Content { get; init; }

    /// <summary>Put: the collection's name inside <see cref="Content"/>.</summary>
    public ReadOnlySpan<byte> Collection { get; init; }

    /// <summary>Put: when the document ends, UTC ticks; 0 = never.</summary>
    public long ExpiresAtTicks { get; init; }

    /// <summary>Patch: what to do.</summary>
    public PatchProgram Patch { get; init; }
}
