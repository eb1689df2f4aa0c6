using System.Buffers.Text;
using System.Text;

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

    /// <summary>It is final, and a GUID that the server made: the client learns it from the result.</summary>
    Made = 3,
}

/// <summary>
/// The id of an operation, with its lower-cased form: made by the proposer, so that nodes with other Unicode tables
/// agree.
/// </summary>
public readonly ref struct CommandId
{
    /// <summary>Digits of a number that the server appends to a prefix.</summary>
    private const int NumberDigits = 19;

    private readonly ReadOnlySpan<byte> _lower;

    internal CommandId(CommandIdKind kind, ReadOnlySpan<byte> written, ReadOnlySpan<byte> lower)
    {
        Kind = kind;
        Written = written;
        _lower = lower;
    }

    /// <summary>How it becomes final.</summary>
    public CommandIdKind Kind { get; }

    /// <summary>The id, or its prefix, as written.</summary>
    public ReadOnlySpan<byte> Written { get; }

    /// <summary>Writes the final id.</summary>
    /// <param name="number">The operation's etag (<see cref="CommandIdKind.Numbered"/>) or the identity's new value;
    /// unused for literals.</param>
    /// <param name="written">At least 512 bytes: the id as written.</param>
    /// <param name="lower">At least 512 bytes: the id lower-cased.</param>
    /// <param name="lowerLength">Bytes of the lower-cased id.</param>
    /// <returns>Bytes of the id as written.</returns>
    public int Resolve(long number, Span<byte> written, Span<byte> lower, out int lowerLength)
    {
        Written.CopyTo(written);
        int prefixLength = WriteLowerName(lower);
        lowerLength = AppendNumber(lower, prefixLength, number, (byte)'a');
        return AppendNumber(written, Written.Length, number, (byte)'A');
    }

    /// <summary>
    /// Writes the id lower-cased without a number: the key of a literal, or of an identity's value (bar included).
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

    private int AppendNumber(Span<byte> id, int length, long number, byte tag)
    {
        switch (Kind)
        {
            case CommandIdKind.Numbered:
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
