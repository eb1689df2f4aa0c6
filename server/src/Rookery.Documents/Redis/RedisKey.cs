using System.Buffers;
using Rookery.Documents.Ids;

namespace Rookery.Documents.Redis;

/// <summary>
/// Maps keys of Redis to document ids and back. Keys are any bytes and differ by case, whereas ids are UTF-8 and
/// compared without case. An ASCII capital letter becomes <c>~</c> and the letter, <c>~</c> becomes <c>~~</c>, each
/// byte that is no kept character becomes <c>~0</c> and two hexadecimal digits, and the empty key becomes <c>~</c>. All
/// other bytes stay. The mapping is fixed for ever, and needs no table of Unicode: all members compute the same ids.
/// </summary>
public static class RedisKey
{
    /// <summary>Bytes of an id per byte of a key, at most.</summary>
    private const int MaxExpansion = 4;
    private const byte Escape = (byte)'~';
    private const byte HexEscape = (byte)'0';

    private static readonly SearchValues<byte> Plain = SearchValues.Create([
        .. Enumerable
            .Range(0x20, 0x7F - 0x20)
            .Where(static value => value is not ('~' or (>= 'A' and <= 'Z')))
            .Select(static value => (byte)value),
    ]);

    // The characters from U+0080 to U+027F, U+0340 to U+03FF and U+0400 to U+053F that are letters, marks or symbols,
    // and that lower-casing leaves unchanged: one bit each. U+0130 and U+0131 are left out, because programs disagree.
    private static readonly ulong[] Latin =
    [
        0xffffdffe00000000,
        0xffffffff80800000,
        0x55a8aaaaaaaaaaaa,
        0xd4aaaaaaaaaaab55,
        0xee512d2a4e243129,
        0xaa29aaaab555524f,
        0x93faaaaaaaaaaaaa,
        0xffffffffffffaa85,
    ];
    private static readonly ulong[] Greek = [0x7cbaffffffffffff, 0xfffff000000100b0, 0x196faaaaaaff7fff];
    private static readonly ulong[] Cyrillic =
    [
        0xffff000000000000,
        0xaaaaaaaaffffffff,
        0xaaaaaaaaaaaaabfe,
        0xaaaaaaaaaaaad554,
        0x0000aaaaaaaaaaaa,
    ];

    // Scripts without case and of symbols.
    private static readonly (int First, int Last)[] Caseless =
    [
        (0x0280, 0x033F), // phonetic letters and combining marks
        (0x05D0, 0x05EA), // Hebrew
        (0x0620, 0x06DC), // Arabic
        (0x06DE, 0x06FF),
        (0x0900, 0x097F), // Devanagari
        (0x0E01, 0x0E3A), // Thai
        (0x0E3F, 0x0E5B),
        (0x10D0, 0x10FF), // Georgian
        (0x1100, 0x11FF), // Hangul
        (0x2010, 0x2027), // punctuation
        (0x2030, 0x205E),
        (0x20A0, 0x20BF), // currencies
        (0x2190, 0x23FF), // arrows, mathematics, technical symbols
        (0x2500, 0x27BF), // boxes, symbols, dingbats
        (0x3001, 0x3029), // punctuation of Chinese and Japanese
        (0x3041, 0x3096), // Hiragana
        (0x3099, 0x30FF), // Katakana
        (0x3105, 0x312F), // Bopomofo
        (0x3400, 0x4DBF), // Chinese characters
        (0x4E00, 0x9FFF),
        (0xAC00, 0xD7A3), // Hangul syllables
        (0x1F300, 0x1F64F), // pictures
        (0x1F680, 0x1F6FF),
        (0x1F900, 0x1F9FF),
    ];

    /// <summary>Maximum length of an id in bytes: a key whose id would be longer is refused.</summary>
    public const int MaxIdBytes = DocumentId.MaxBytes;

    /// <summary>Writes the id of a key.</summary>
    /// <param name="key">Any bytes.</param>
    /// <param name="id">At least <see cref="MaxIdBytes"/> bytes.</param>
    /// <param name="length">Length of the id.</param>
    /// <returns>False if the id would be too long.</returns>
    public static bool TryWriteId(ReadOnlySpan<byte> key, Span<byte> id, out int length)
    {
        id = id[..MaxIdBytes];
        length = 0;
        if (IsPlain(key))
        {
            length = key.Length;
            return key.TryCopyTo(id);
        }

        if (key.IsEmpty)
        {
            id[length++] = Escape;
            return true;
        }

        for (int at = 0; at < key.Length; )
        {
            if (length + (MaxExpansion * MaxExpansion) > id.Length)
            {
                return TryWriteEnd(key[at..], id, ref length);
            }

            at += WriteCharacter(key[at..], id, ref length);
        }

        return true;
    }

    /// <summary>Returns whether the id cannot be too long, whatever the key's bytes are.</summary>
    internal static bool IsSurelyShort(ReadOnlySpan<byte> key) => key.Length <= MaxIdBytes / MaxExpansion;

    /// <summary>Lower-cases the id of a key.</summary>
    /// <param name="id">An id that <see cref="TryWriteId"/> wrote.</param>
    /// <param name="lowerId">At least as many bytes.</param>
    internal static void WriteLowerId(ReadOnlySpan<byte> id, Span<byte> lowerId)
    {
        if (!id.ContainsAnyInRange((byte)'A', (byte)'Z'))
        {
            id.CopyTo(lowerId);
            return;
        }

        for (int i = 0; i < id.Length; i++)
        {
            byte value = id[i];
            lowerId[i] = value is >= (byte)'A' and <= (byte)'Z' ? (byte)(value | 0x20) : value;
        }
    }

    /// <summary>
    /// Reads the key of a document. A capital letter that does not follow <c>~</c> is read as a small one.
    /// </summary>
    /// <param name="id">The document's id, in any casing.</param>
    /// <param name="key">At least <see cref="MaxIdBytes"/> bytes.</param>
    /// <param name="length">Length of the key.</param>
    /// <returns>False if no key has this id, for instance because of a <c>~</c> without meaning.</returns>
    public static bool TryReadKey(ReadOnlySpan<byte> id, Span<byte> key, out int length)
    {
        length = 0;
        Span<byte> lower = stackalloc byte[MaxIdBytes];
        if (!DocumentId.TryToLower(id, lower, out int lowerLength))
        {
            return false;
        }

        var lowerId = (ReadOnlySpan<byte>)lower[..lowerLength];
        if (IsPlain(lowerId))
        {
            lowerId.CopyTo(key);
            length = lowerLength;
            return true;
        }

        return TryDecode(lowerId, key, ref length) && IsIdOf(key[..length], lowerId);
    }

    private static bool TryDecode(ReadOnlySpan<byte> lowerId, Span<byte> key, ref int length)
    {
        if (lowerId.SequenceEqual("~"u8))
        {
            return true;
        }

        for (int at = 0; at < lowerId.Length; at++)
        {
            byte value = lowerId[at];
            if (value != Escape)
            {
                key[length++] = value;
                continue;
            }

            byte next = at + 1 < lowerId.Length ? lowerId[++at] : (byte)0;
            switch (next)
            {
                case >= (byte)'a' and <= (byte)'z':
                    key[length++] = (byte)(next & ~0x20);
                    break;
                case Escape:
                    key[length++] = Escape;
                    break;
                case HexEscape
                    when at + 2 < lowerId.Length
                        && HexDigit(lowerId[at + 1]) is >= 0 and var high
                        && HexDigit(lowerId[at + 2]) is >= 0 and var low:
                    key[length++] = (byte)((high << 4) | low);
                    at += 2;
                    break;
                default:
                    return false;
            }
        }

        return true;
    }

    // Several texts decode to the same key, for instance ~061 and a, and only one of them is its id.
    private static bool IsIdOf(ReadOnlySpan<byte> key, ReadOnlySpan<byte> lowerId)
    {
        Span<byte> id = stackalloc byte[MaxIdBytes];
        if (!TryWriteId(key, id, out int length) || length != lowerId.Length)
        {
            return false;
        }

        WriteLowerId(id[..length], id);
        return id[..length].SequenceEqual(lowerId);
    }

    private static bool IsPlain(ReadOnlySpan<byte> key) =>
        !key.IsEmpty && !key.ContainsAnyExcept(Plain) && !IsCompleted(key);

    // The server completes ids that end with one of these characters.
    private static bool IsCompleted(ReadOnlySpan<byte> key) => key[^1] is (byte)'/' or (byte)'|';

    private static bool TryWriteEnd(ReadOnlySpan<byte> key, Span<byte> id, ref int length)
    {
        Span<byte> character = stackalloc byte[MaxExpansion * MaxExpansion];
        while (!key.IsEmpty)
        {
            int written = 0;
            int read = WriteCharacter(key, character, ref written);
            if (!character[..written].TryCopyTo(id[length..]))
            {
                return false;
            }

            length += written;
            key = key[read..];
        }

        return true;
    }

    // Returns the number of bytes read.
    private static int WriteCharacter(ReadOnlySpan<byte> key, Span<byte> id, ref int length)
    {
        byte first = key[0];
        if (first < 0x80)
        {
            bool isLast = key.Length == 1;
            switch (first)
            {
                case >= (byte)'A' and <= (byte)'Z':
                    id[length++] = Escape;
                    id[length++] = first;
                    break;
                case Escape:
                    id[length++] = Escape;
                    id[length++] = Escape;
                    break;
                case < 0x20 or 0x7F:
                case (byte)'/' or (byte)'|' when isLast:
                    WriteHex(first, id, ref length);
                    break;
                default:
                    id[length++] = first;
                    break;
            }

            return 1;
        }

        if (Utf8Character.TryRead(key, out int character, out int bytes) && IsKept(character))
        {
            key[..bytes].CopyTo(id[length..]);
            length += bytes;
            return bytes;
        }

        WriteHex(first, id, ref length);
        return 1;
    }

    private static void WriteHex(byte value, Span<byte> id, ref int length)
    {
        id[length++] = Escape;
        id[length++] = HexEscape;
        id[length++] = "0123456789abcdef"u8[value >> 4];
        id[length++] = "0123456789abcdef"u8[value & 15];
    }

    private static bool IsKept(int character) =>
        character switch
        {
            >= 0x80 and < 0x280 => IsSet(Latin, character - 0x80),
            >= 0x340 and < 0x400 => IsSet(Greek, character - 0x340),
            >= 0x400 and < 0x540 => IsSet(Cyrillic, character - 0x400),
            _ => IsCaseless(character),
        };

    private static bool IsSet(ulong[] bits, int index) => ((bits[index >> 6] >> (index & 63)) & 1) != 0;

    private static bool IsCaseless(int character)
    {
        foreach (var (first, last) in Caseless)
        {
            if (character <= last)
            {
                return character >= first;
            }
        }

        return false;
    }

    private static int HexDigit(byte digit) =>
        digit switch
        {
            >= (byte)'0' and <= (byte)'9' => digit - '0',
            >= (byte)'a' and <= (byte)'f' => digit - 'a' + 10,
            _ => -1,
        };
}
