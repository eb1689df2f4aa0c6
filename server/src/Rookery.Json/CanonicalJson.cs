using Rookery.Platform;

namespace Rookery.Json;

/// <summary>
/// Writes JSON in canonical form, so that equal values have equal bytes. Numbers are written as by
/// <see cref="NumberKey"/>, texts with only the escapes that JSON needs, and members of objects ordered by name.
/// Elements of arrays keep their order.
/// </summary>
public static class CanonicalJson
{
    private const int MaxBytesOfEscape = 6;
    private const int BytesPerPiece = 1024;

    /// <summary>Appends the canonical form of a value.</summary>
    /// <param name="json">The value: valid JSON without whitespace between tokens.</param>
    /// <param name="output">Receives the form. Must not be the buffer of <paramref name="json"/>.</param>
    public static void Append(ReadOnlySpan<byte> json, PooledBytes output) => AppendValue(json, at: 0, output);

    // Returns the offset after the value. The end of an array or object is found while its parts are appended, so no
    // level of nested values is scanned a second time.
    private static int AppendValue(ReadOnlySpan<byte> json, int at, PooledBytes output)
    {
        switch (json[at])
        {
            case (byte)'[':
                return AppendArray(json, at, output);
            case (byte)'{':
                return AppendObject(json, at, output);
        }

        int end = StoredJson.SkipValue(json, at);
        var scalar = json[at..end];
        switch (scalar[0])
        {
            case (byte)'"':
                AppendText(scalar, output);
                break;
            case (byte)'-' or (>= (byte)'0' and <= (byte)'9'):
                Span<byte> key = stackalloc byte[NumberKey.MaxBytes];
                int keyLength = NumberKey.Write(scalar, key);
                output.Advance(NumberKey.WriteJson(key[..keyLength], output.Reserve(NumberKey.MaxJsonBytes)));
                break;
            default:
                output.Append(scalar);
                break;
        }

        return end;
    }

    /// <summary>Appends JSON with only its texts in canonical form.</summary>
    /// <param name="json">One value, or members of an object without braces.</param>
    /// <param name="output">Receives the JSON.</param>
    public static void AppendWithPlainTexts(ReadOnlySpan<byte> json, PooledBytes output)
    {
        while (true)
        {
            int quote = json.IndexOf((byte)'"');
            if (quote < 0)
            {
                output.Append(json);
                return;
            }

            int end = JsonText.SkipString(json, quote);
            output.Append(json[..quote]);
            AppendText(json[quote..end], output);
            json = json[end..];
        }
    }

    private static void AppendText(ReadOnlySpan<byte> json, PooledBytes output)
    {
        if (!json.Contains((byte)'\\'))
        {
            output.Append(json);
            return;
        }

        var memory = PooledMemory.Rent(json.Length);
        ReadOnlySpan<byte> text = memory.Span[..JsonText.Unescape(json[1..^1], memory.Span)];
        output.Append((byte)'"');

        // Long texts are written in pieces, because in the worst case the output is six times as long.
        while (!text.IsEmpty)
        {
            var piece = text[..Math.Min(text.Length, BytesPerPiece)];
            output.Advance(JsonText.Escape(piece, output.Reserve(piece.Length * MaxBytesOfEscape)));
            text = text[piece.Length..];
        }

        output.Append((byte)'"');
        memory.Return();
    }

    private static int AppendArray(ReadOnlySpan<byte> json, int start, PooledBytes output)
    {
        output.Append((byte)'[');
        int at = start + 1;
        while (json[at] != (byte)']')
        {
            if (json[at] == (byte)',')
            {
                output.Append((byte)',');
                at++;
            }

            at = AppendValue(json, at, output);
        }

        output.Append((byte)']');
        return at + 1;
    }

    private static int AppendObject(ReadOnlySpan<byte> json, int start, PooledBytes output)
    {
        var members = new List<Range>();
        output.Append((byte)'{');
        int firstMember = output.Length;
        int at = start + 1;
        while (json[at] != (byte)'}')
        {
            if (json[at] == (byte)',')
            {
                at++;
            }

            int nameEnd = JsonText.SkipString(json, at);
            if (members.Count > 0)
            {
                output.Append((byte)',');
            }

            int member = output.Length;
            AppendText(json[at..nameEnd], output);
            output.Append((byte)':');
            at = AppendValue(json, nameEnd + 1, output);
            members.Add(member..output.Length);
        }

        SortMembers(members, firstMember, output);
        output.Append((byte)'}');
        return at + 1;
    }

    /// <summary>Sorts members by their bytes, which begin with their names.</summary>
    private static void SortMembers(List<Range> members, int start, PooledBytes output)
    {
        if (IsOrdered(members, output.Written))
        {
            return;
        }

        var copy = PooledMemory.Rent(output.Length - start);
        var unordered = copy.Span[..(output.Length - start)];
        output.Written[start..].CopyTo(unordered);
        Range[] order = [.. members.Select(member => (member.Start.Value - start)..(member.End.Value - start))];
        Sort(order, new Range[order.Length], unordered);
        output.Truncate(start);
        foreach (var member in order)
        {
            if (output.Length > start)
            {
                output.Append((byte)',');
            }

            output.Append(unordered[member]);
        }

        copy.Return();
    }

    private static bool IsOrdered(List<Range> members, ReadOnlySpan<byte> json)
    {
        for (int i = 1; i < members.Count; i++)
        {
            if (json[members[i - 1]].SequenceCompareTo(json[members[i]]) > 0)
            {
                return false;
            }
        }

        return true;
    }

    // A merge sort, which is stable; scratch is as long as the members.
    private static void Sort(Span<Range> members, Span<Range> scratch, ReadOnlySpan<byte> json)
    {
        if (members.Length < 2)
        {
            return;
        }

        int middle = members.Length / 2;
        Sort(members[..middle], scratch, json);
        Sort(members[middle..], scratch, json);
        int left = 0;
        int right = middle;
        for (int at = 0; at < members.Length; at++)
        {
            bool isLeft =
                right == members.Length
                || (left < middle && json[members[left]].SequenceCompareTo(json[members[right]]) <= 0);
            if (isLeft)
            {
                scratch[at] = members[left];
                left++;
            }
            else
            {
                scratch[at] = members[right];
                right++;
            }
        }

        scratch[..members.Length].CopyTo(members);
    }
}
