using System.Buffers;
using System.Text;
using System.Text.Json;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Store;
using Rookery.Search.Values;

namespace Rookery.Queries.Execution;

/// <summary>
/// Reads the terms of an index's field in order, each once across segments. Terms that only deleted documents have may
/// be included until segments are merged.
/// </summary>
internal static class IndexTerms
{
    /// <summary>Reads the values of a field.</summary>
    /// <param name="snapshot">The index's snapshot.</param>
    /// <param name="field">The number of the field.</param>
    /// <param name="after">The value to start after, in the form that this method returns; null to start with the
    /// first.</param>
    /// <param name="count">Maximum number of terms.</param>
    public static List<string> ReadValues(IndexSnapshot snapshot, int field, string? after, int count) =>
        Read(snapshot, field, after is null ? [] : KeyAfter(after), count, Show);

    /// <summary>Reads the words of a field. The parameters are those of <see cref="ReadValues"/>.</summary>
    public static List<string> ReadWords(IndexSnapshot snapshot, int field, string? after, int count) =>
        Read(
            snapshot,
            field,
            after is null ? [] : [.. Encoding.UTF8.GetBytes(after), 0],
            count,
            static term => Encoding.UTF8.GetString(term)
        );

    private static List<string> Read(
        IndexSnapshot snapshot,
        int field,
        byte[] seekKey,
        int count,
        Func<byte[], string> show
    )
    {
        var cursors = snapshot
            .Segments.Select(segment => segment.Reader.Field(field)?.Terms())
            .OfType<TermCursor>()
            .Where(cursor => cursor.Seek(seekKey))
            .ToList();
        var terms = new List<string>();
        while (cursors.Count > 0 && terms.Count < count)
        {
            byte[] leastTerm = cursors[0].Term.ToArray();
            foreach (var cursor in cursors.Skip(1).Where(cursor => cursor.Term.SequenceCompareTo(leastTerm) < 0))
            {
                leastTerm = cursor.Term.ToArray();
            }

            terms.Add(show(leastTerm));
            cursors.RemoveAll(cursor => cursor.Term.SequenceEqual(leastTerm) && !cursor.MoveNext());
        }

        return terms;
    }

    private static string Show(byte[] key)
    {
        if (TermKey.IsTruncated(key))
        {
            return Encoding.UTF8.GetString(key.AsSpan(1, TermKey.MaxTextBytes));
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

    // A text that looks like a number is read as a number; numbers come before texts.
    private static byte[] KeyAfter(string shown)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(shown);
        byte[] key = new byte[TermKey.MaxBytes + 1];
        int length =
            shown is "null" or "true" or "false" || IsNumber(utf8)
                ? TermKey.Write(utf8, isExact: false, key)
                : TermKey.WriteText(utf8, isExact: false, key);
        key[length] = 0; // the next possible key
        return key[..(length + 1)];
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
}
