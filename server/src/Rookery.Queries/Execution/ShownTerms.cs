using System.Buffers;
using System.Text;
using System.Text.Json;
using Rookery.Search.Segments.Store;
using Rookery.Search.Values;

namespace Rookery.Queries.Execution;

/// <summary>
/// Shows the keys of a field as texts, and finds the key that a text shows, so that a client can page through the
/// terms by the last text of a page. Each text is shown once: if several keys would show the same text, such as the
/// number 7 and the text "7", it stands at the position of the last one.
/// </summary>
/// <remarks>
/// A key has only the beginning of a long text (<see cref="TermKey.IsTruncated"/>). Such a term is shown as this
/// beginning, an ellipsis, and the rest of the key in hexadecimal digits, so that a truncated text does not
/// look whole.
/// </remarks>
internal sealed class ShownTerms(IndexSnapshot snapshot, int field)
{
    private const char Ellipsis = '…';

    private static readonly ValueKind[] TextKinds = [ValueKind.Text, ValueKind.ExactText, ValueKind.Container];

    /// <summary>Returns the text of a key, or null if a later key of the field shows the same text.</summary>
    public string? ShowOnce(byte[] key)
    {
        string shown = Show(key);
        return
            MayBeShownAgain(key)
            && KeysShownAs(shown).Any(other => other.AsSpan().SequenceCompareTo(key) > 0 && Exists(other))
            ? null
            : shown;
    }

    /// <summary>
    /// Returns the least key after those that show a text. The text need not exist: then the kinds of values in the
    /// field tell whether it is, for example, a number or a text.
    /// </summary>
    public byte[] SeekKeyAfter(string shown)
    {
        var keys = KeysShownAs(shown);
        byte[] key = keys.FindLast(Exists) ?? keys.Find(key => HasKind(TermKey.KindOf(key))) ?? keys[0];
        return [.. key, 0];
    }

    private static string Show(byte[] key)
    {
        if (TermKey.IsTruncated(key))
        {
            int whole = WholeCharacters(key.AsSpan(1, TermKey.MaxTextBytes));
            return Encoding.UTF8.GetString(key, 1, whole) + Ellipsis + Convert.ToHexStringLower(key.AsSpan(1 + whole));
        }

        var output = new ArrayBufferWriter<byte>();
        TermKey.WriteJson(key, output);
        if (output.WrittenSpan is not [(byte)'"', ..])
        {
            return Encoding.UTF8.GetString(output.WrittenSpan);
        }

        var text = new Utf8JsonReader(output.WrittenSpan);
        text.Read();
        return text.GetString()!;
    }

    /// <summary>Returns the length of UTF-8 without a last character that is cut off.</summary>
    private static int WholeCharacters(ReadOnlySpan<byte> utf8)
    {
        int last = utf8.Length - 1;
        while (last > 0 && (utf8[last] & 0xC0) == 0x80)
        {
            last--;
        }

        return Rune.DecodeFromUtf8(utf8[last..], out _, out _) == OperationStatus.Done ? utf8.Length : last;
    }

    /// <summary>Whether other kinds of values, which are sorted later, may be shown as the same text.</summary>
    private static bool MayBeShownAgain(byte[] key) =>
        TermKey.KindOf(key) is not (ValueKind.Text or ValueKind.ExactText or ValueKind.Container)
        || (key.Length > 1 && key[1] is (byte)'{' or (byte)'[');

    /// <summary>Returns the keys of all values that are shown as a text, in order; at least one.</summary>
    private static List<byte[]> KeysShownAs(string shown)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(shown);
        byte[] key = new byte[TermKey.MaxBytes];
        var keys = new List<byte[]>();
        if (shown is "null" or "true" or "false" || IsNumber(utf8))
        {
            keys.Add(key[..TermKey.Write(utf8, isExact: false, key)]);
        }

        if (TryReadTruncated(shown) is { } rest)
        {
            keys.AddRange(TextKinds.Select(kind => (byte[])[TermKey.FirstByteOf(kind), .. rest]));
            return keys;
        }

        keys.Add(key[..TermKey.WriteText(utf8, isExact: false, key)]);
        keys.Add(key[..TermKey.WriteText(utf8, isExact: true, key)]);
        if (utf8 is [(byte)'{' or (byte)'[', ..] && utf8.Length <= TermKey.MaxTextBytes)
        {
            keys.Add([TermKey.FirstByteOf(ValueKind.Container), .. utf8]);
        }

        return keys;
    }

    /// <summary>Returns all bytes of a truncated key but the first, or null if the text shows no such key.</summary>
    private static byte[]? TryReadTruncated(string shown)
    {
        int ellipsis = shown.LastIndexOf(Ellipsis);
        if (ellipsis < 0)
        {
            return null;
        }

        byte[] beginning = Encoding.UTF8.GetBytes(shown[..ellipsis]);
        byte[] rest = new byte[Math.Max(TermKey.MaxBytes - 1 - beginning.Length, 0)];
        return
            Convert.FromHexString(shown.AsSpan(ellipsis + 1), rest, out _, out int written) == OperationStatus.Done
            && written == rest.Length
            && beginning.Length + written == TermKey.MaxBytes - 1
            ? [.. beginning, .. rest]
            : null;
    }

    private static bool IsNumber(byte[] utf8)
    {
        try
        {
            var json = new Utf8JsonReader(utf8);
            return json.Read() && json.TokenType == JsonTokenType.Number && !json.Read();
        }
        catch (JsonException)
        {
            return false;
        }
    }

    private bool Exists(byte[] key) => IndexTerms.OpenCursors(snapshot, field).Any(cursor => cursor.SeekExact(key));

    private bool HasKind(ValueKind kind) =>
        IndexTerms
            .OpenCursors(snapshot, field)
            .Any(cursor => cursor.Seek([TermKey.FirstByteOf(kind)]) && cursor.Term[0] <= TermKey.LastByteOf(kind));
}
