using System.Text.Unicode;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Redis;

/// <summary>
/// Maps fields of hashes, any bytes, to names of JSON members and back. A byte that is no UTF-8 becomes <c>~0</c> and
/// two hexadecimal digits; a <c>~</c> that could be mistaken for such an escape becomes <c>~~</c>; and the field
/// <c>@metadata</c>, whose name documents give another meaning, becomes <c>~040metadata</c>.
/// </summary>
internal static class RedisField
{
    private const byte Escape = (byte)'~';
    private const byte HexEscape = (byte)'0';

    private static ReadOnlySpan<byte> Reserved => "@metadata"u8;

    /// <summary>Appends the name of a field's member as JSON, with quotes and a colon.</summary>
    public static void Append(RedisContent content, ReadOnlySpan<byte> field, PooledBytes scratch)
    {
        if (!field.Contains(Escape) && Utf8.IsValid(field) && !field.SequenceEqual(Reserved))
        {
            content.AppendName(field);
            return;
        }

        scratch.Clear();
        for (int at = 0; at < field.Length; )
        {
            if (field[at] == Escape)
            {
                bool isAmbiguous =
                    at + 1 < field.Length
                    && (field[at + 1] is Escape or HexEscape || !IsCharacter(field[(at + 1)..], out _));
                scratch.Append(isAmbiguous ? "~~"u8 : "~"u8);
                at++;
            }
            else if (IsCharacter(field[at..], out int length) && !(at == 0 && field.SequenceEqual(Reserved)))
            {
                scratch.Append(field.Slice(at, length));
                at += length;
            }
            else
            {
                scratch.Append([
                    Escape,
                    HexEscape,
                    "0123456789abcdef"u8[field[at] >> 4],
                    "0123456789abcdef"u8[field[at] & 15],
                ]);
                at++;
            }
        }

        content.AppendName(scratch.Written);
    }

    /// <summary>Returns the field of a member.</summary>
    /// <param name="json">The text with the member.</param>
    /// <param name="name">Its name.</param>
    /// <param name="scratch">Receives the field if it must be decoded.</param>
    public static ReadOnlySpan<byte> Read(ReadOnlySpan<byte> json, JsonSlice name, PooledBytes scratch)
    {
        var raw = json.Slice(name.Start, name.Length);
        if (!name.Escaped && !raw.Contains(Escape))
        {
            return raw;
        }

        scratch.Clear();
        var span = scratch.Reserve(raw.Length);
        int length = JsonText.Unescape(raw, span);
        scratch.Advance(Decode(span[..length]));
        return scratch.Written;
    }

    // Decodes in place and returns the length.
    private static int Decode(Span<byte> text)
    {
        int written = 0;
        for (int at = 0; at < text.Length; )
        {
            var rest = text[at..];
            if (rest.StartsWith("~~"u8))
            {
                text[written++] = Escape;
                at += 2;
            }
            else if (
                rest.Length >= 4
                && rest.StartsWith("~0"u8)
                && HexDigit(rest[2]) is >= 0 and var high
                && HexDigit(rest[3]) is >= 0 and var low
            )
            {
                text[written++] = (byte)((high << 4) | low);
                at += 4;
            }
            else
            {
                text[written++] = text[at++];
            }
        }

        return written;
    }

    private static int HexDigit(byte digit) =>
        digit switch
        {
            >= (byte)'0' and <= (byte)'9' => digit - '0',
            >= (byte)'a' and <= (byte)'f' => digit - 'a' + 10,
            _ => -1,
        };

    private static bool IsCharacter(ReadOnlySpan<byte> text, out int length) =>
        Utf8Character.TryRead(text, out _, out length);
}
