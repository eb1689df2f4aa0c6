using System.Numerics;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Rookery.Json;

/// <summary>
/// Scans JSON and checks its grammar, escapes, surrogates, depth and duplicate keys. The caller checks the UTF-8 of the
/// whole text at once.
/// </summary>
/// <remarks>
/// Utf8JsonReader is not used, because it reports errors only as exceptions, accepts lone surrogates and duplicate
/// keys, and does not count whitespace. Tests compare the verdicts of both.
/// </remarks>
public ref struct JsonScanner(ReadOnlySpan<byte> json, int position, ObjectKeys keys)
{
    // The length of an escape such as \u00e9.
    private const int HexEscapeBytes = 6;

    private static readonly Vector128<byte> Quotes = Vector128.Create((byte)'"');
    private static readonly Vector128<byte> Backslashes = Vector128.Create((byte)'\\');
    private static readonly Vector128<byte> Spaces = Vector128.Create((byte)' ');

    /// <summary>The text.</summary>
    public readonly ReadOnlySpan<byte> Json { get; } = json;

    /// <summary>The offset of the scanner; after an error, the offset of the error.</summary>
    public int Position { get; private set; } = position;

    /// <summary>Bytes of whitespace skipped between tokens.</summary>
    public int WhitespaceBytes { get; private set; }

    /// <summary>The error; <see cref="InputErrorCode.None"/> if there is none.</summary>
    public InputErrorCode Error { get; private set; }

    private readonly ObjectKeys _keys = keys;

    /// <summary>Skips whitespace and returns the next byte without moving past it; 0 at the end.</summary>
    public byte Peek()
    {
        SkipWhitespace();
        return Position < Json.Length ? Json[Position] : (byte)0;
    }

    /// <summary>Records an error at <paramref name="position"/>, and always returns false.</summary>
    /// <returns>False.</returns>
    public bool Fail(InputErrorCode error, int position)
    {
        Error = error;
        Position = position;
        return false;
    }

    /// <summary>Skips whitespace. Fails unless the text ends there.</summary>
    public bool TryEnd()
    {
        SkipWhitespace();
        return Position == Json.Length || Fail(InputErrorCode.TrailingData, Position);
    }

    /// <summary>
    /// Moves past an object's opening brace. Then call <see cref="TryNextMember"/> until it returns false.
    /// </summary>
    public bool TryOpenObject()
    {
        if (!TryTake((byte)'{'))
        {
            return false;
        }

        _keys.Open();
        return true;
    }

    /// <summary>
    /// Moves past the next member's name and colon. Returns false after the object's closing brace, and on an error
    /// (<see cref="Error"/>).
    /// </summary>
    /// <param name="first">True before the first member; set to false.</param>
    /// <param name="name">The name of the member.</param>
    public bool TryNextMember(ref bool first, out JsonSlice name)
    {
        name = default;
        byte next = Peek();
        if (next == (byte)'}')
        {
            Position++;
            _keys.Close();
            return false;
        }

        if (!first && !TryTake((byte)','))
        {
            return false;
        }

        first = false;
        return TryReadName(out name)
            && (_keys.TryAdd(Json, name) || Fail(InputErrorCode.DuplicateKey, name.Start - 1))
            && TryTake((byte)':');
    }

    /// <summary>
    /// Moves to the next element of an array, after its opening bracket was read. Returns false after the closing
    /// bracket, and on an error (<see cref="Error"/>).
    /// </summary>
    public bool TryNextElement(ref bool first)
    {
        if (Peek() == (byte)']')
        {
            Position++;
            return false;
        }

        bool isAtElement = first || TryTake((byte)',');
        first = false;
        return isAtElement;
    }

    /// <summary>Returns the text of a string with its escapes resolved. Valid until the next call.</summary>
    public readonly ReadOnlySpan<byte> Text(JsonSlice slice) => _keys.Resolve(Json, slice);

    /// <summary>Skips whitespace and moves past a punctuation character.</summary>
    public bool TryTake(byte punctuation)
    {
        SkipWhitespace();
        if (Position < Json.Length && Json[Position] == punctuation)
        {
            Position++;
            return true;
        }

        return MissingPunctuation(punctuation);
    }

    /// <summary>Moves past a string and returns its content.</summary>
    public bool TryReadString(out JsonSlice text)
    {
        text = default;
        return TryTake((byte)'"') && TryFinishText(out text);
    }

    /// <summary>Moves past a literal such as <c>null</c>.</summary>
    public bool TryTakeLiteral(ReadOnlySpan<byte> literal)
    {
        ReadOnlySpan<byte> unread = Json[Position..];
        if (unread.StartsWith(literal))
        {
            Position += literal.Length;
            return true;
        }

        return Unexpected(Position + unread.CommonPrefixLength(literal));
    }

    /// <summary>Moves past one value of any type, and checks all of it.</summary>
    /// <param name="levels">Maximum levels of objects and arrays in the value.</param>
    public bool TrySkipValue(int levels)
    {
        UInt128 containerKinds = 0; // one bit per open container, the innermost lowest: 1 for an object, 0 for an array
        int depth = 0;
        while (true)
        {
            switch (Peek())
            {
                case (byte)'"':
                    Position++;
                    if (!TryFinishString(out _))
                    {
                        return false;
                    }

                    break;
                case (byte)'{':
                    depth++;
                    if (depth > levels)
                    {
                        return Fail(InputErrorCode.TooDeep, Position);
                    }

                    Position++;
                    containerKinds = (containerKinds << 1) | 1;
                    _keys.Open();
                    if (Peek() != (byte)'}')
                    {
                        if (!TryReadName())
                        {
                            return false;
                        }

                        continue;
                    }

                    break;
                case (byte)'[':
                    depth++;
                    if (depth > levels)
                    {
                        return Fail(InputErrorCode.TooDeep, Position);
                    }

                    Position++;
                    containerKinds <<= 1;
                    if (Peek() != (byte)']')
                    {
                        continue;
                    }

                    break;
                case (byte)'t':
                    if (!TryTakeLiteral("true"u8))
                    {
                        return false;
                    }

                    break;
                case (byte)'f':
                    if (!TryTakeLiteral("false"u8))
                    {
                        return false;
                    }

                    break;
                case (byte)'n':
                    if (!TryTakeLiteral("null"u8))
                    {
                        return false;
                    }

                    break;
                case (byte)'-' or (>= (byte)'0' and <= (byte)'9'):
                    if (!TrySkipNumber())
                    {
                        return false;
                    }

                    break;
                default:
                    return Unexpected(Position);
            }

            // After a value: close the containers that end here, or continue after a comma.
            while (true)
            {
                if (depth == 0)
                {
                    return true;
                }

                byte next = Peek();
                bool isObject = ((ulong)containerKinds & 1) != 0;
                if (next == (byte)',')
                {
                    Position++;
                    if (isObject && !TryReadName())
                    {
                        return false;
                    }

                    break;
                }

                if (next != (isObject ? (byte)'}' : (byte)']'))
                {
                    return Unexpected(Position);
                }

                Position++;
                depth--;
                containerKinds >>= 1;
                if (isObject)
                {
                    _keys.Close();
                }
            }
        }
    }

    // Moves past a member's name and colon.
    private bool TryReadName() =>
        TryReadString(out JsonSlice name)
        && (_keys.TryAdd(Json, name) || Fail(InputErrorCode.DuplicateKey, name.Start - 1))
        && TryTake((byte)':');

    private void SkipWhitespace()
    {
        int at = Position;
        ReadOnlySpan<byte> text = Json;
        while (
            (uint)at < (uint)text.Length
            && text[at] <= (byte)' '
            && text[at] is (byte)' ' or (byte)'\n' or (byte)'\r' or (byte)'\t'
        )
        {
            at++;
        }

        WhitespaceBytes += at - Position;
        Position = at;
    }

    /// <summary>Moves past the rest of a string, including its closing quote.</summary>
    private bool TryFinishString(out bool escaped)
    {
        escaped = false;
        while (true)
        {
            int at = IndexOfSpecial(Json, Position);
            if (at == Json.Length)
            {
                return Fail(InputErrorCode.UnexpectedEnd, at);
            }

            if (Json[at] == (byte)'"')
            {
                Position = at + 1;
                return true;
            }

            if (Json[at] != (byte)'\\')
            {
                return Fail(InputErrorCode.ControlCharacterInString, at);
            }

            escaped = true;
            Position = at;
            if (!TrySkipEscape())
            {
                return false;
            }
        }
    }

    /// <summary>
    /// Returns the offset of the next quote, backslash or control character; the text's length if there is none.
    /// </summary>
    private static int IndexOfSpecial(ReadOnlySpan<byte> json, int from)
    {
        ref byte start = ref MemoryMarshal.GetReference(json);
        int at = from;
        for (; at <= json.Length - Vector128<byte>.Count; at += Vector128<byte>.Count)
        {
            Vector128<byte> bytes = Vector128.LoadUnsafe(ref start, (nuint)at);
            Vector128<byte> hits =
                Vector128.Equals(bytes, Quotes)
                | Vector128.Equals(bytes, Backslashes)
                | Vector128.LessThan(bytes, Spaces);
            if (hits != Vector128<byte>.Zero)
            {
                return at + BitOperations.TrailingZeroCount(hits.ExtractMostSignificantBits());
            }
        }

        while (at < json.Length && json[at] is >= (byte)' ' and not (byte)'"' and not (byte)'\\')
        {
            at++;
        }

        return at;
    }

    private bool TrySkipEscape()
    {
        int at = Position;
        if (at + 1 >= Json.Length)
        {
            return Fail(InputErrorCode.UnexpectedEnd, Json.Length);
        }

        switch (Json[at + 1])
        {
            case (byte)'"' or (byte)'\\' or (byte)'/' or (byte)'b' or (byte)'f' or (byte)'n' or (byte)'r' or (byte)'t':
                Position = at + 2;
                return true;
            case (byte)'u':
                break;
            default:
                return Fail(InputErrorCode.InvalidEscape, at);
        }

        if (!TryReadHex(at, out int first))
        {
            return false;
        }

        Position = at + HexEscapeBytes;
        if (first is < 0xD800 or > 0xDFFF)
        {
            return true;
        }

        // After the first half of a surrogate pair, the second half must follow, or UTF-8 cannot represent the text.
        ReadOnlySpan<byte> next = Json[Position..];
        if (first > 0xDBFF || (next.Length >= 1 && next[0] != (byte)'\\') || (next.Length >= 2 && next[1] != (byte)'u'))
        {
            return Fail(InputErrorCode.LoneSurrogate, at);
        }

        if (!TryReadHex(Position, out int second))
        {
            return false;
        }

        Position += HexEscapeBytes;
        return second is >= 0xDC00 and <= 0xDFFF || Fail(InputErrorCode.LoneSurrogate, at);
    }

    // Reads the four digits of the \u escape at this offset.
    private bool TryReadHex(int escape, out int value)
    {
        value = 0;
        for (int at = escape + 2; at < escape + HexEscapeBytes; at++)
        {
            if (at >= Json.Length)
            {
                return Fail(InputErrorCode.UnexpectedEnd, Json.Length);
            }

            if (!char.IsAsciiHexDigit((char)Json[at]))
            {
                return Fail(InputErrorCode.InvalidEscape, escape);
            }

            int digit = Json[at] | 0x20; // in lower case
            value = (value << 4) | (digit <= '9' ? digit - '0' : digit - 'a' + 10);
        }

        return true;
    }

    private bool TryReadName(out JsonSlice name)
    {
        name = default;
        if (TryTake((byte)'"'))
        {
            return TryFinishText(out name);
        }

        // The grammar itself demands a string here.
        return Unexpected(Position);
    }

    private bool TryFinishText(out JsonSlice text)
    {
        text = default;
        int start = Position;
        if (!TryFinishString(out bool escaped))
        {
            return false;
        }

        text = new JsonSlice(start, Position - start - 1, escaped);
        return true;
    }

    // A value of another type is no error of JSON's grammar, so the message must not call it one.
    private bool MissingPunctuation(byte punctuation)
    {
        var required = punctuation switch
        {
            (byte)'{' => InputErrorCode.ObjectRequired,
            (byte)'[' => InputErrorCode.ArrayRequired,
            (byte)'"' => InputErrorCode.StringRequired,
            _ => InputErrorCode.None,
        };
        return required != InputErrorCode.None && BeginsValue(Json[Position..])
            ? Fail(required, Position)
            : Unexpected(Position);
    }

    private static bool BeginsValue(ReadOnlySpan<byte> text) =>
        text.Length > 0
        && (
            text[0] is (byte)'{' or (byte)'[' or (byte)'"' or (byte)'-'
            || char.IsAsciiDigit((char)text[0])
            || text.StartsWith("null"u8)
            || text.StartsWith("true"u8)
            || text.StartsWith("false"u8)
        );

    private bool TrySkipNumber()
    {
        ReadOnlySpan<byte> text = Json;
        int at = Position;
        if (text[at] == (byte)'-')
        {
            at++;
        }

        if (at < text.Length && text[at] == (byte)'0')
        {
            at++;
            if (at < text.Length && char.IsAsciiDigit((char)text[at]))
            {
                return Fail(InputErrorCode.InvalidNumber, Position);
            }
        }
        else if (!TrySkipDigits(ref at))
        {
            return false;
        }

        if (at < text.Length && text[at] == (byte)'.')
        {
            at++;
            if (!TrySkipDigits(ref at))
            {
                return false;
            }
        }

        if (at < text.Length && text[at] is (byte)'e' or (byte)'E')
        {
            at++;
            if (at < text.Length && text[at] is (byte)'+' or (byte)'-')
            {
                at++;
            }

            if (!TrySkipDigits(ref at))
            {
                return false;
            }
        }

        Position = at;
        return true;
    }

    /// <summary>Moves past at least one digit.</summary>
    private bool TrySkipDigits(ref int at)
    {
        int start = at;
        ReadOnlySpan<byte> text = Json;
        while ((uint)at < (uint)text.Length && char.IsAsciiDigit((char)text[at]))
        {
            at++;
        }

        if (at > start)
        {
            return true;
        }

        return at < text.Length ? Fail(InputErrorCode.InvalidNumber, Position) : Fail(InputErrorCode.UnexpectedEnd, at);
    }

    private bool Unexpected(int position) =>
        Fail(position < Json.Length ? InputErrorCode.UnexpectedCharacter : InputErrorCode.UnexpectedEnd, position);
}
