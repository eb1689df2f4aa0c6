using System.Buffers.Text;
using System.Text;

namespace Rookery.Documents.Commands;

/// <summary>How apply completes the id of an operation. Only puts have incomplete ids.</summary>
public enum CommandIdKind : byte
{
    /// <summary>The id is complete.</summary>
    Literal = 0,

    /// <summary>
    /// "users/" becomes "users/0000000000000000042-A": apply appends the operation's etag, 19 digits long, and the tag
    /// A.
    /// </summary>
    Numbered = 1,

    /// <summary>"users|" becomes "users/7": apply appends the identity's next value.</summary>
    Identity = 2,

    /// <summary>The id is complete: a GUID that the server chose. The client learns it from the result.</summary>
    Generated = 3,

    /// <summary>
    /// Like <see cref="Numbered"/>, with the database's next number instead of the etag. A command encodes this kind as
    /// <see cref="Numbered"/> with the flag <see cref="CommandFormat.HeaderNumbersInDatabase"/>.
    /// </summary>
    NumberedInDatabase = 4,
}

/// <summary>
/// The id of an operation, and its lower-cased form. The node that encodes a command lower-cases ids that are not
/// ASCII, because apply must have the same result on nodes with different versions of Unicode.
/// </summary>
public readonly ref struct CommandId
{
    /// <summary>The length of an appended etag or number of a database, in digits.</summary>
    private const int NumberDigits = 19;

    private readonly ReadOnlySpan<byte> _lower;

    /// <summary>Makes an id from the parts of a command.</summary>
    /// <param name="kind">The kind in the command.</param>
    /// <param name="written">The id or prefix, as the client wrote it.</param>
    /// <param name="lower">Its lower-cased form; empty if <paramref name="written"/> is ASCII.</param>
    /// <param name="numbersInDatabase">Whether <see cref="CommandIdKind.Numbered"/> stands for
    /// <see cref="CommandIdKind.NumberedInDatabase"/>.</param>
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
    /// <param name="number">The number to append, by <see cref="Kind"/>: the operation's etag, the next number of the
    /// database, or the next value of the identity; unused for a complete id.</param>
    /// <param name="written">Receives the id as written; at least <see cref="Ids.DocumentId.MaxBytes"/> bytes.</param>
    /// <param name="lower">Receives the id lower-cased; at least <see cref="Ids.DocumentId.MaxBytes"/> bytes.</param>
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
    /// <param name="destination">At least <see cref="Ids.DocumentId.MaxBytes"/> bytes.</param>
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

    // Appends what the kind requires and returns the new length. RavenDB appends the node's tag. Rookery appends A on
    // every node, because all members must compute the same id.
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
