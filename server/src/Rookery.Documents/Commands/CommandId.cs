namespace Rookery.Documents.Commands;

/// <summary>How the id of a put becomes final.</summary>
public enum CommandIdKind : byte
{
    /// <summary>It is final.</summary>
    Literal = 0,

    /// <summary>"users/": the operation's etag with 19 digits and the tag are appended.</summary>
    Numbered = 1,

    /// <summary>"users|": the next value of that identity is appended, and the bar becomes a slash.</summary>
    Identity = 2,
}

/// <summary>The id of an operation, with its lower-cased form: made by the proposer, so that nodes with other Unicode tables agree.</summary>
public readonly ref struct CommandId
{
    /// <summary>How it becomes final.</summary>
    public CommandIdKind Kind { get; }

    /// <summary>The id, or its prefix, as written.</summary>
    public ReadOnlySpan<byte> Written { get; }

    /// <summary>Writes the final id.</summary>
    /// <param name="number">The operation's etag (<see cref="CommandIdKind.Numbered"/>) or the identity's new value; unused for literals.</param>
    /// <param name="written">At least 512 bytes: the id as written.</param>
    /// <param name="lower">At least 512 bytes: the id lower-cased.</param>
    /// <param name="lowerLength">Bytes of the lower-cased id.</param>
    /// <returns>Bytes of the id as written.</returns>
    public int Resolve(long number, Span<byte> written, Span<byte> lower, out int lowerLength) => throw new NotSupportedException();

    /// <summary>Writes the identity's name, lower-cased, bar included: the key under which its value is kept.</summary>
    public int WriteLowerName(Span<byte> destination) => throw new NotSupportedException();
}
