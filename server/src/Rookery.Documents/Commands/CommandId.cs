using System.Buffers.Text;
using System.Text;

namespace Rookery.Documents.Commands;

/// <summary>How apply completes the id of a put.</summary>
public enum CommandIdKind : byte
{
    /// <summary>The id is complete.</summary>
    Literal = 0,

    /// <summary>"users/": apply appends the operation's etag, 19 digits long, and the tag.</summary>
    Numbered = 1,

    /// <summary>"users|": apply appends the identity's next value and replaces the bar by a slash.</summary>
    Identity = 2,

    /// <summary>The id is complete: a GUID that the server chose. The client learns it from the result.</summary>
    Generated = 3,

    /// <summary>
    /// Like <see cref="Numbered"/>, with the database's next number instead of the etag. Commands contain
    /// <see cref="Numbered"/> and a flag in their header.
    /// </summary>
    NumberedInDatabase = 4,
}

/// <summary>
/// The id of an operation, and its lower-cased form. The proposer lower-cases it, because nodes may use different
/// versions of Unicode.
/// </summary>
public readonly ref struct CommandId
{
    /// <summary>Digits of an etag that the server appends to a prefix.</summary>
    private const int NumberDigits = 19;

    private readonly ReadOnlySpan<byte> _lower;

    internal CommandId(
        CommandIdKind kind,
        ReadOnlySpan<byte> written,
        ReadOnlySpan<byte> lower,
        bool numbersInDatabase = false
    )
    {
        bool isOfDatabase = numbersInDatabase && kind == CommandIdKind.Numbered;
        Kind = isOfDatabase ? CommandIdKind.NumberedInDatabase : kind;
        Written = written;
        _lower = lower;
    }

    /// <summary>How apply completes the id.</summary>
    public CommandIdKind Kind { get; }

    /// <summary>Whether apply appends a number, so that the id is not known before.</summary>
    public bool IsCompletedByApply =>
        Kind is CommandIdKind.Numbered or CommandIdKind.NumberedInDatabase or CommandIdKind.Identity;

    /// <summary>The id or prefix, as the client wrote it.</summary>
    public ReadOnlySpan<byte> Written { get; }

    /// <summary>Writes the final id.</summary>
    /// <param name="number">The operation's etag for <see cref="CommandIdKind.Numbered"/>, the new value of the
    /// identity or of the database for the kinds that have one; otherwise unused.</param>
    /// <param name="written">Receives the id as written; at least 512 bytes.</param>
    /// <param name="lower">Receives the id lower-cased; at least 512 bytes.</param>
    /// <param name="lowerLength">Length of the lower-cased id.</param>
    /// <returns>Length of the id as written.</returns>
    public int Resolve(long number, Span<byte> written, Span<byte> lower, out int lowerLength)
    {
        Written.CopyTo(written);
        int prefixLength = WriteLowerName(lower);
        lowerLength = AppendNumber(lower, prefixLength, number, (byte)'a');
        return AppendNumber(written, Written.Length, number, (byte)'A');
    }

    /// <summary>
    /// Writes the lower-cased id or prefix without a number: the key of a literal id, or the name of an identity, with
    /// the <c>|</c> at its end.
    /// </summary>
    /// <returns>Bytes written.</returns>
    public int WriteLowerName(Span<byte> destination)
    {
        if (_lower.IsEmpty)
        {
            Ascii.ToLower(Written, destination, out int written);
            return written;
        }

        _lower.CopyTo(destination);
        return _lower.Length;
    }

    // Appends what the kind requires and returns the new length. Where RavenDB appends the node's letter, this appends
    // a tag that is the same on every node.
    private int AppendNumber(Span<byte> id, int length, long number, byte tag)
    {
        switch (Kind)
        {
            case CommandIdKind.Numbered or CommandIdKind.NumberedInDatabase:
                Utf8Formatter.TryFormat(
                    number,
                    id[length..],
                    out _,
                    new System.Buffers.StandardFormat('D', NumberDigits)
                );
                id[length + NumberDigits] = (byte)'-';
                id[length + NumberDigits + 1] = tag;
                return length + NumberDigits + 2;
            case CommandIdKind.Identity:
                id[length - 1] = (byte)'/';
                Utf8Formatter.TryFormat(number, id[length..], out int digits);
                return length + digits;
            default:
                return length;
        }
    }
}
