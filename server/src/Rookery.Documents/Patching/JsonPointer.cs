using Rookery.Platform;

namespace Rookery.Documents.Patching;

/// <summary>Reads the segments of a JSON pointer (RFC 6901) one by one.</summary>
/// <param name="text">The pointer: empty for the whole document, otherwise each segment follows a slash.</param>
internal ref struct JsonPointer(ReadOnlySpan<byte> text)
{
    private readonly ReadOnlySpan<byte> _text = text;
    private int _position;

    /// <summary>Whether there is another segment.</summary>
    public readonly bool HasNext => _position < _text.Length;

    /// <summary>The pointer up to the current segment.</summary>
    public readonly ReadOnlySpan<byte> Passed => _text[.._position];

    /// <summary>The current segment, with ~0 and ~1 as they are in the pointer.</summary>
    public ReadOnlySpan<byte> Segment { get; private set; }

    /// <summary>Returns a reader at the last segment of a pointer that is not empty.</summary>
    public static JsonPointer LastOf(ReadOnlySpan<byte> text)
    {
        var last = new JsonPointer(text[text.LastIndexOf((byte)'/')..]);
        last.Next();
        return last;
    }

    /// <summary>Whether a text is a JSON pointer.</summary>
    public static bool IsValid(ReadOnlySpan<byte> text)
    {
        if (!text.IsEmpty && text[0] != (byte)'/')
        {
            return false;
        }

        for (int at = text.IndexOf((byte)'~'); at >= 0; )
        {
            if (at + 1 == text.Length || text[at + 1] is not ((byte)'0' or (byte)'1'))
            {
                return false;
            }

            int next = text[(at + 2)..].IndexOf((byte)'~');
            at = next < 0 ? -1 : at + 2 + next;
        }

        return true;
    }

    /// <summary>Whether a pointer leads to a place inside the value of another one.</summary>
    public static bool IsInside(ReadOnlySpan<byte> inner, ReadOnlySpan<byte> outer) =>
        inner.Length > outer.Length && inner.StartsWith(outer) && inner[outer.Length] == (byte)'/';

    /// <summary>Reads the next segment. The pointer must have one.</summary>
    public void Next()
    {
        int start = _position + 1;
        int length = _text[start..].IndexOf((byte)'/');
        Segment = length < 0 ? _text[start..] : _text.Slice(start, length);
        _position = start + Segment.Length;
    }

    /// <summary>Returns the current segment as the name of a member: ~1 is a slash, ~0 a tilde.</summary>
    /// <param name="buffer">Receives the name if it differs from the segment.</param>
    public readonly ReadOnlySpan<byte> Name(PooledBytes buffer)
    {
        var unread = Segment;
        int tilde = unread.IndexOf((byte)'~');
        if (tilde < 0)
        {
            return unread;
        }

        buffer.Clear();
        for (; tilde >= 0; tilde = unread.IndexOf((byte)'~'))
        {
            buffer.Append(unread[..tilde]);
            buffer.Append(unread[tilde + 1] == (byte)'1' ? (byte)'/' : (byte)'~');
            unread = unread[(tilde + 2)..];
        }

        buffer.Append(unread);
        return buffer.Written;
    }

    /// <summary>
    /// Reads the current segment as the index of an element; digits without leading zeros. An index beyond an int is
    /// read as the largest int, which is out of the bounds of every array.
    /// </summary>
    public readonly bool TryReadIndex(out int index)
    {
        index = 0;
        if (Segment.IsEmpty || (Segment.Length > 1 && Segment[0] == (byte)'0'))
        {
            return false;
        }

        long value = 0;
        foreach (byte digit in Segment)
        {
            if (digit is < (byte)'0' or > (byte)'9')
            {
                return false;
            }

            value = Math.Min((value * 10) + (digit - (byte)'0'), int.MaxValue);
        }

        index = (int)value;
        return true;
    }
}
