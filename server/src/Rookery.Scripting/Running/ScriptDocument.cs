namespace Rookery.Scripting.Running;

/// <summary>A document as scripts see it. Its bytes belong to the caller, and are valid during the call.</summary>
public readonly ref struct ScriptDocument
{
    /// <summary>The id, cased as it was written.</summary>
    public required ReadOnlySpan<byte> Id { get; init; }

    /// <summary>The collection's name; empty for <c>@empty</c>.</summary>
    public required ReadOnlySpan<byte> Collection { get; init; }

    /// <summary>The user's metadata members, without braces.</summary>
    public required ReadOnlySpan<byte> Metadata { get; init; }

    /// <summary>The body's members, without braces.</summary>
    public required ReadOnlySpan<byte> Body { get; init; }

    /// <summary>Time of the last change, UTC ticks.</summary>
    public required long LastModifiedTicks { get; init; }

    /// <summary>The change vector for the metadata; empty to leave it out.</summary>
    public ReadOnlySpan<byte> ChangeVector { get; init; }
}
