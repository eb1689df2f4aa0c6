namespace Rookery.Scripting.Running;

/// <summary>
/// A document as it is passed to a script. The caller owns its bytes, which are valid during the call.
/// </summary>
public readonly ref struct ScriptDocument
{
    /// <summary>The id, in its original case.</summary>
    public required ReadOnlySpan<byte> Id { get; init; }

    /// <summary>The collection's name; empty for <c>@empty</c>.</summary>
    public required ReadOnlySpan<byte> Collection { get; init; }

    /// <summary>The user's metadata members, without braces.</summary>
    public required ReadOnlySpan<byte> Metadata { get; init; }

    /// <summary>Further metadata members that the server computes, without braces; empty for none.</summary>
    public ReadOnlySpan<byte> ComputedMetadata { get; init; }

    /// <summary>The body's members, without braces.</summary>
    public required ReadOnlySpan<byte> Body { get; init; }

    /// <summary>The time of the last change, as UTC ticks.</summary>
    public required long LastModifiedTicks { get; init; }

    /// <summary>The change vector shown in the metadata; empty to omit it.</summary>
    public ReadOnlySpan<byte> ChangeVector { get; init; }
}
